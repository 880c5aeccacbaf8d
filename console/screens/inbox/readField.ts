import type { FormSchema } from "../../api/types.ts";

/** What a person entered into a field, as the schema wants it; undefined for nothing. Throws an Error that names the field. */
export function readField(schema: FormSchema, name: string, entered: FormDataEntryValue | null): unknown {
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
    throw new Error(`${schema.title ?? name}: must be JSON, such as ["a", "b"].`);
  }
}
