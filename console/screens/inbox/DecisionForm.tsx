import { useState, type FormEvent } from "react";
import type { FormSchema } from "../../api/types.ts";
import { formText } from "../../parts/formText.ts";
import { Field } from "./Field.tsx";
import { readField } from "./readField.ts";

export interface Decision {
  decision: "approve" | "reject";
  comment: string | null;
  data?: unknown;
}

/** The entered values by name. Throws an Error that names the field. */
function readValues(fields: [string, FormSchema][], form: FormData): Record<string, unknown> | undefined {
  if (fields.length === 0) return undefined;
  const values = fields.map(([name, schema]) => [name, readField(schema, name, form.get(`field.${name}`))] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

interface Props {
  schema: FormSchema | null;
  isPending: boolean;
  onDecide(decision: Decision): void;
}

/** The fields that the workflow asks for, a comment and two buttons. A rejection needs no fields. */
export function DecisionForm({ schema, isPending, onDecide }: Props) {
  const [problem, setProblem] = useState<string>();
  const fields = Object.entries(schema?.properties ?? {});

  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const { submitter } = event.nativeEvent as SubmitEvent;
    const decision = (submitter as HTMLButtonElement | null)?.value === "reject" ? "reject" : "approve";
    const comment = formText(form, "comment").trim() || null;
    try {
      const data = decision === "approve" ? readValues(fields, form) : undefined;
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
      {fields.map(([name, field]) => (
        <Field key={name} name={name} schema={field} required={schema?.required?.includes(name) ?? false} />
      ))}
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
