import { useState, type FormEvent } from "react";
import type { FormSchema } from "../../api/types.ts";
import { formText } from "../../parts/formText.ts";
import { SchemaFields } from "../../parts/SchemaField.tsx";
import { readValues } from "../../parts/schemaValues.ts";

export interface Decision {
  decision: "approve" | "reject";
  comment: string | null;
  data?: unknown;
}

interface Props {
  schema: FormSchema | null;
  isPending: boolean;
  onDecide(decision: Decision): void;
}

/** The fields that the workflow asks for, a comment and two buttons. A rejection needs no fields. */
export function DecisionForm({ schema, isPending, onDecide }: Props) {
  const [problem, setProblem] = useState<string>();

  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const { submitter } = event.nativeEvent as SubmitEvent;
    const decision = (submitter as HTMLButtonElement | null)?.value === "reject" ? "reject" : "approve";
    const comment = formText(form, "comment").trim() || null;
    try {
      const data = decision === "approve" ? readValues(schema, form) : undefined;
      setProblem(undefined);
      onDecide({ decision, comment, ...(data && { data }) });
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <form className="decision" onSubmit={submit}>
      {problem && (
        <p className="notice bad" role="alert">
          {problem}
        </p>
      )}
      <SchemaFields schema={schema} />
      <label>
        <span>
          Comment <span className="quiet">(optional)</span>
        </span>
        <textarea name="comment" rows={2} maxLength={4_000} />
      </label>
      <div className="buttons">
        <button type="submit" name="decision" value="approve" className="button primary" disabled={isPending}>
          Approve
        </button>
        <button
          type="submit"
          name="decision"
          value="reject"
          className="button danger"
          disabled={isPending}
          formNoValidate
        >
          Reject
        </button>
      </div>
    </form>
  );
}
