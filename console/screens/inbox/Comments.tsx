import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { attachmentAddress, commentOn, listComments, MAX_FILES } from "../../api/approvalPeople.ts";
import { useRole } from "../../api/useRole.ts";
import { AttachField, useAttachments } from "../../parts/Attach.tsx";
import { Form } from "../../parts/Form.tsx";
import { formText } from "../../parts/formText.ts";
import { QueryResult } from "../../parts/Notices.tsx";
import { Time } from "../../parts/Time.tsx";
import { Attachments } from "./Attachments.tsx";
import { displayName } from "./displayName.ts";

function NewComment({ id }: { id: string }) {
  const queries = useQueryClient();
  const [formKey, setFormKey] = useState(0);
  const { files, clear, ...attaching } = useAttachments(MAX_FILES);
  const add = useMutation({
    mutationFn: async (form: FormData) => {
      await commentOn(id, { text: formText(form, "text"), files: files.map((file) => file.id) });
      return files;
    },
    onSuccess: (sent) => {
      setFormKey((current) => current + 1);
      clear(sent);
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["run"] }),
  });
  return (
    <details>
      <summary>Comment without deciding</summary>
      <Form key={formKey} submit="Send" isWithin send={{ ...add, isPending: add.isPending || attaching.isUploading }}>
        <textarea name="text" rows={2} maxLength={2_000} required aria-label="Message" />
        <AttachField files={files} {...attaching} />
      </Form>
    </details>
  );
}

/** Comments on an approval, which decide nothing. */
export function Comments({ approval: { id, status } }: { approval: { id: string; status: string } }) {
  const comments = useQuery(listComments(id));
  const { mayWrite } = useRole();
  return (
    <section aria-label="Discussion">
      <QueryResult query={comments} what="comments">
        {({ data }) =>
          data.length > 0 && (
            <ul className="plain">
              {data.map(({ id: comment, by, text, files: attached, at }) => (
                <li key={comment}>
                  <strong>{displayName(by)}</strong> <Time at={at} />
                  <p className="body-text">{text}</p>
                  <Attachments files={attached} addressOf={attachmentAddress(id)} />
                </li>
              ))}
            </ul>
          )
        }
      </QueryResult>
      {status === "pending" && mayWrite && <NewComment id={id} />}
    </section>
  );
}
