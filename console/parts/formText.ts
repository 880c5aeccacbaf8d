import { FieldError } from "../format/FieldError.ts";

/** The text of a field; a form may also contain files. */
export function formText(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === "string" ? value : "";
}

/** The values of the checked boxes with a name. */
export const formTexts = (form: FormData, name: string): string[] =>
  form.getAll(name).filter((value): value is string => typeof value === "string");

/** The distinct lines of a field, without empty ones. */
export const formLines = (form: FormData, name: string): string[] => [
  ...new Set(
    formText(form, name)
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean),
  ),
];

/** The groups of repeated fields, in the order of the form. */
export function formGroups(form: FormData): Record<string, string>[] {
  const groups = new Map<string, Record<string, string>>();
  for (const [name, value] of form) {
    const [, id, field] = /^(\d+)\.(.+)$/.exec(name) ?? [];
    if (id === undefined || field === undefined || typeof value !== "string") continue;
    const group = groups.get(id) ?? {};
    group[field] = value.trim();
    groups.set(id, group);
  }
  return [...groups.values()];
}

/** A field as JSON. Throws a FieldError. */
export function readJson(form: FormData, name: string, label: string): unknown {
  const text = formText(form, name).trim();
  try {
    return JSON.parse(text || "{}");
  } catch (error) {
    throw new FieldError(name, `${label}: ${error instanceof Error ? error.message : "this is not JSON"}`);
  }
}
