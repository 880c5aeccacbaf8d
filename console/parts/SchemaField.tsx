import type { FormSchema } from "../api/types.ts";

const LONG_TEXT = 200;
const INPUT_TYPES: Record<string, string> = { date: "date", email: "email", uri: "url" };

interface Props {
  name: string;
  schema: FormSchema;
  required: boolean;
}

const asText = (value: unknown): string =>
  value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);

function Input({ name, schema, required }: Props) {
  const common = { name: `field.${name}`, required, defaultValue: asText(schema.default) };
  const { type, format = "", maxLength, minimum, maximum } = schema;
  if (schema.enum)
    return (
      <select {...common}>
        <option value="" disabled={required}>
          {required ? "Choose one" : "–"}
        </option>
        {schema.enum.map((choice) => (
          <option key={JSON.stringify(choice)} value={asText(choice)}>
            {asText(choice)}
          </option>
        ))}
      </select>
    );
  if (type === "number" || type === "integer")
    return <input {...common} type="number" step={type === "integer" ? 1 : "any"} min={minimum} max={maximum} />;
  if (type === "string" && (maxLength ?? 0) <= LONG_TEXT)
    return <input {...common} type={INPUT_TYPES[format] ?? "text"} maxLength={maxLength} />;
  return <textarea {...common} rows={4} maxLength={maxLength} />;
}

/** Hints for a field: the schema's description, and how to write values without a field of their own. */
const hintOf = ({ type, description }: FormSchema): string =>
  [description, (type === "array" || type === "object") && "as JSON"].filter(Boolean).join(", ");

/** One field of a form described by a JSON schema. */
function Field({ name, schema, required }: Props) {
  const hint = hintOf(schema);
  const label = schema.title ?? name;
  if (schema.type === "boolean")
    return (
      <label className="check">
        <input type="checkbox" name={`field.${name}`} defaultChecked={schema.default === true} /> {label}
        {hint && <span className="quiet"> {hint}</span>}
      </label>
    );
  return (
    <label>
      <span>
        {label} {!required && <span className="quiet">(optional)</span>}
      </span>
      {hint && <span className="quiet">{hint}</span>}
      <Input name={name} schema={schema} required={required} />
    </label>
  );
}

/** The fields of an object that a JSON schema describes. */
export const SchemaFields = ({ schema }: { schema: FormSchema | null }) =>
  Object.entries(schema?.properties ?? {}).map(([name, field]) => (
    <Field key={name} name={name} schema={field} required={schema?.required?.includes(name) ?? false} />
  ));
