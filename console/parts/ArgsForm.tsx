import type { FormSchema } from "../api/types.ts";
import type { Action } from "./action.ts";
import { Form } from "./Form.tsx";
import { FormField } from "./FormField.tsx";
import { readJson } from "./formText.ts";
import { SchemaFields } from "./SchemaField.tsx";
import { readValues } from "./schemaValues.ts";

const hasFields = (schema: FormSchema | null): boolean => Object.keys(schema?.properties ?? {}).length > 0;

/** Arguments as fields. If the schema has no properties, they are entered as JSON. */
export const ArgsFields = ({ schema, label }: { schema: FormSchema | null; label: string }) =>
  hasFields(schema) ? (
    <fieldset>
      <legend className="hidden-text">{label}</legend>
      <SchemaFields schema={schema} />
    </fieldset>
  ) : (
    <FormField label={`${label}, as JSON`}>
      <textarea name="args" rows={3} className="mono" defaultValue="{}" spellCheck={false} />
    </FormField>
  );

/** The entered arguments. Throws a FieldError. */
export const readArgs = (form: FormData, schema: FormSchema | null): unknown =>
  hasFields(schema) ? readValues(schema, form) : readJson(form, "args", "Arguments");

interface Props {
  /** JSON Schema of the arguments. */
  schema: FormSchema | null;
  submit: string;
  /** Reads the form with `readArgs`; the form shows a thrown error. */
  send: Action<FormData>;
}

/** The arguments of a tool or of a run. */
export const ArgsForm = ({ schema, submit, send }: Props) => (
  <Form submit={submit} send={send}>
    <ArgsFields schema={schema} label="Arguments" />
  </Form>
);
