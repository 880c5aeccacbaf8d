import type { FormSchema } from "../api/types.ts";
import { Value } from "./Value.tsx";

/** A value in one line; undefined for one that needs more. */
function inLine(value: unknown): string | undefined {
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}

/** Fields of an object that each fit in a line; undefined if there are none, or one that does not. */
export function plainFieldsOf(value: unknown): [name: string, text: string][] | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const fields = Object.entries(value).flatMap(([name, field]): [string, string][] => {
    const text = inLine(field);
    return text === undefined ? [] : [[name, text]];
  });
  return fields.length > 0 && fields.length === Object.keys(value).length ? fields : undefined;
}

interface Props {
  label: string;
  value: unknown;
  /** Of the form whose answer it is: people know its fields by their titles. */
  schema?: FormSchema | null;
}

/** An object as people read it where that is possible, and any other value as JSON. */
export function PlainFields({ label, value, schema }: Props) {
  const fields = plainFieldsOf(value);
  if (!fields) return <Value label={label} value={value} />;
  return (
    <dl className="facts" aria-label={label}>
      {fields.map(([name, text]) => [
        <dt key={`${name} name`}>{schema?.properties?.[name]?.title ?? name}</dt>,
        <dd key={`${name} value`}>{text}</dd>,
      ])}
    </dl>
  );
}
