import type { FormSchema } from "../api/types.ts";
import { ValueBlock } from "./ValueBlock.tsx";

/** A value on one line; undefined if it needs more. */
function inLine(value: unknown): string | undefined {
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}

/** Fields of an object that each fit on one line; undefined if there are none, or if one does not fit. */
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
  /** The schema of the form, whose titles label the fields. */
  schema?: FormSchema | null;
}

/** An object as labelled fields if possible, and any other value as JSON. */
export function PlainFields({ label, value, schema }: Props) {
  const fields = plainFieldsOf(value);
  if (!fields) return <ValueBlock label={label} value={value} />;
  return (
    <dl className="facts" aria-label={label}>
      {fields.map(([name, text]) => [
        <dt key={`${name} name`}>{schema?.properties?.[name]?.title ?? name}</dt>,
        <dd key={`${name} value`}>{text}</dd>,
      ])}
    </dl>
  );
}
