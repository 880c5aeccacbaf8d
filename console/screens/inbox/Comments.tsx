import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { attachmentAddress, commentOn, listComments, MAX_FILES } from "../../api/approvalPeople.ts";
import { useRole } from "../../api/useRole.ts";
import { AttachField, useFiles } from "../../parts/Attach.tsx";
import { formText } from "../../parts/formText.ts";
import { ErrorNotice } from "../../parts/Notices.tsx";
import { Time } from "../../parts/Time.tsx";
import { Attachments } from "./Attachments.tsx";
import { nameOf } from "./nameOf.ts";
import { FocusableButton } from "../../parts/FocusableButton.tsx";

/** What people say about an approval without deciding it. */
export function Comments({ approval: { id, status } }: { approval: { id: string; status: string } }) {
  const queries = useQueryClient();
  const { mayWrite } = useRole();
  const { data: comments } = useQuery(listComments(id));
  const { files, clear, ...attaching } = useFiles(MAX_FILES);
  const add = useMutation({
    mutationFn: (text: string) => commentOn(id, { text, files: files.map((file) => file.id) }),
    onSettled: () => queries.invalidateQueries({ queryKey: ["run"] }),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    add.mutate(formText(new FormData(form), "text"), {
      onSuccess: () => {
        form.reset();
        clear();
      },
    });
  };
  return (
    <section aria-label="Discussion">
      {comments && comments.data.length > 0 && (
        <ul className="plain">
          {comments.data.map(({ id: comment, by, text, files: attached, at }) => (
            <li key={comment}>
              <strong>{nameOf(by)}</strong> <Time at={at} />
              <p className="body-text">{text}</p>
              <Attachments files={attached} addressOf={attachmentAddress(id)} />
            </li>
          ))}
        </ul>
      )}
      {status === "pending" && mayWrite && (
        <details>
          <summary>Comment without deciding</summary>
          <form className="decision" onSubmit={submit}>
            {add.isError && <ErrorNotice error={add.error} />}
            <textarea name="text" rows={2} maxLength={2_000} required aria-label="Message" />
            <AttachField files={files} {...attaching} />
            <FocusableButton type="submit" className="button" isOff={add.isPending || attaching.upload.isPending}>
              Send
            </FocusableButton>
          </form>
        </details>
      )}
    </section>
  );
}
