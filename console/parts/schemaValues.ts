import type { FormSchema } from "../api/types.ts";
import { FieldError } from "../format/FieldError.ts";

/** The entered value of a field in the schema's type; undefined if empty. Throws a FieldError. */
function readField(schema: FormSchema, name: string, entered: FormDataEntryValue | null): unknown {
  if (schema.type === "boolean") return entered !== null;
  const text = typeof entered === "string" ? entered : "";
  if (text === "") return undefined;
  if (schema.enum)
    return schema.enum.find((choice) => (typeof choice === "string" ? choice : JSON.stringify(choice)) === text);
  if (schema.type === "string") return text;
  if (schema.type === "number" || schema.type === "integer") return Number(text);
  try {
    return JSON.parse(text);
  } catch {
    throw new FieldError(`field.${name}`, `${schema.title ?? name}: must be JSON, such as ["a", "b"].`);
  }
}

/** The entered values of a schema's fields by name, without empty ones. Throws a FieldError. */
export function readValues(schema: FormSchema | null, form: FormData): Record<string, unknown> | undefined {
  const fields = Object.entries(schema?.properties ?? {});
  if (fields.length === 0) return undefined;
  const values = fields.map(([name, field]) => [name, readField(field, name, form.get(`field.${name}`))] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}
