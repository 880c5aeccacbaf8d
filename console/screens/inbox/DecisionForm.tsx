import { useEffect, useState } from "react";
import { MAX_FILES } from "../../api/approvalPeople.ts";
import type { FormSchema } from "../../api/types.ts";
import { AttachField, useAttachments } from "../../parts/Attach.tsx";
import { SchemaFields } from "../../parts/SchemaField.tsx";
import { readValues } from "../../parts/schemaValues.ts";
import { useCheckedForm } from "../../parts/useCheckedForm.tsx";
import { useDraft } from "../../parts/useDraft.ts";
import { useUnsavedWarning } from "../../parts/useLeaveConfirmation.ts";
import { FocusableButton } from "../../parts/FocusableButton.tsx";
import { FormField } from "../../parts/FormField.tsx";

export interface Decision {
  decision: "approve" | "reject";
  comment: string | null;
  /** Ids. */
  files?: string[];
  data?: unknown;
}

interface Props {
  /** The approval's id, under which the draft of the comment is stored. */
  id: string;
  schema: FormSchema | null;
  /** People with a link, and decisions about tool calls, cannot attach files. */
  takesFiles?: boolean;
  isPending: boolean;
  /** Why the last decision was refused; null if it was not. */
  error: unknown;
  onDecide(decision: Decision): void;
}

const Buttons = ({ isPending }: Pick<Props, "isPending">) => (
  <div className="buttons">
    <FocusableButton type="submit" name="decision" value="approve" className="button primary" isOff={isPending}>
      Approve
    </FocusableButton>
    <FocusableButton
      type="submit"
      name="decision"
      value="reject"
      className="button danger"
      isOff={isPending}
      formNoValidate
    >
      Reject
    </FocusableButton>
  </div>
);

/** The fields of the workflow's form, a comment and two buttons. A rejection requires no fields. */
export function DecisionForm({ id, schema, takesFiles = false, isPending, error, onDecide }: Props) {
  const [problem, setProblem] = useState<unknown>(null);
  const { text: comment, write: setComment } = useDraft(`decision ${id}`);
  const { set: setUnsaved } = useUnsavedWarning();
  // the comment is a draft, which is kept
  useEffect(() => {
    if (schema && error) setUnsaved(true);
  }, [schema, error, setUnsaved]);
  const { files, ...attaching } = useAttachments(MAX_FILES);

  const onSend = (form: FormData, submitter: HTMLElement | null) => {
    const decision = (submitter as HTMLButtonElement | null)?.value === "reject" ? "reject" : "approve";
    try {
      const data = decision === "approve" ? readValues(schema, form) : undefined;
      setProblem(null);
      setUnsaved(false);
      const handed = files.length > 0 && { files: files.map((file) => file.id) };
      onDecide({ decision, comment: comment.trim() || null, ...(data && { data }), ...handed });
    } catch (wrong) {
      setProblem(wrong);
    }
  };
  const { props, notice } = useCheckedForm({ error: problem ?? error, onSend });
  return (
    <form {...props} className="decision">
      {schema && (
        <div className="stack" onInput={() => setUnsaved(true)}>
          <SchemaFields schema={schema} />
        </div>
      )}
      <FormField label="Comment" note="optional">
        <textarea
          name="comment"
          rows={2}
          maxLength={4_000}
          value={comment}
          onChange={({ target }) => setComment(target.value)}
        />
      </FormField>
      {takesFiles && <AttachField files={files} {...attaching} />}
      {notice}
      <Buttons isPending={isPending || attaching.isUploading} />
    </form>
  );
}
