import type { FormSchema } from "../api/types.ts";
import type { Action } from "./action.ts";
import { Form } from "./Form.tsx";
import { readJson } from "./formText.ts";
import { SchemaFields } from "./SchemaField.tsx";
import { readValues } from "./schemaValues.ts";

interface Props {
  /** JSON Schema of the arguments; without properties they are entered as JSON. */
  schema: FormSchema | null;
  submit: string;
  send: Action<unknown>;
}

/** The arguments of a tool or of a run. */
export function ArgsForm({ schema, submit, send }: Props) {
  const hasFields = Object.keys(schema?.properties ?? {}).length > 0;
  const read = (form: FormData): unknown =>
    hasFields ? readValues(schema, form) : readJson(form, "args", "Arguments");
  return (
    <Form submit={submit} send={{ ...send, mutate: (form) => send.mutate(read(form)) }}>
      {hasFields ? (
        <SchemaFields schema={schema} />
      ) : (
        <label>
          Arguments, as JSON
          <textarea name="args" rows={3} className="mono" defaultValue="{}" spellCheck={false} />
        </label>
      )}
    </Form>
  );
}
