import { ApiError } from "../api/call.ts";
import { FieldError } from "../format/FieldError.ts";

export type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

const FIELDS = "input, select, textarea";
/** A position in a path: `targets[1].model` or `targets.1.model`. */
const POSITION = /^\d+$/;

const fieldsIn = (form: HTMLFormElement): Field[] =>
  [...form.querySelectorAll<Field>(FIELDS)].filter(
    ({ type, hidden, disabled }) => type !== "hidden" && !hidden && !disabled,
  );

/** The last part of a field's name: `model` of `3.model`, and `amount` of `field.amount`. */
const lastPart = (name: string): string => name.slice(name.lastIndexOf(".") + 1);

/** A field with one of these names, or the first below one: `schedule.cron` below `schedule`. The longest name wins. */
const fieldNamed = (fields: Field[], names: string[]): Field | undefined => {
  const exact = names.flatMap((one) => fields.find(({ name }) => name === one) ?? [])[0];
  return exact ?? names.flatMap((one) => fields.find(({ name }) => name.startsWith(`${one}.`)) ?? [])[0];
};

/**
 * The field that a request's parameter comes from; undefined if the form has none. `envelope.limits.max_steps` is the field
 * `limits.max_steps` or `max_steps`, and `targets[1].model` the second field `<n>.model`. If several fields make one parameter
 * with another name, an element around them has that name in `data-params`.
 */
function fieldOfParam(fields: Field[], param: string): Field | undefined {
  const path = param.split(/[.[\]]+/).filter(Boolean);
  const parts = path.filter((part) => !POSITION.test(part));
  const named = fieldNamed(fields, [param, ...parts.map((_, n) => parts.slice(n).join(".")), ...parts.toReversed()]);
  if (named) return named;
  const position = Number(path.findLast((part) => POSITION.test(part)) ?? 0);
  for (const part of parts.toReversed()) {
    const found = fields.filter(({ name }) => lastPart(name) === part);
    if (found.length > 0) return found[position] ?? found[0];
  }
  const comesFrom = (field: Field) => field.closest<HTMLElement>("[data-params]")?.dataset["params"]?.split(" ") ?? [];
  return fields.find((field) => comesFrom(field).some((name) => parts.includes(name)));
}

/** Opens the `<details>` around a field. If a choice in the same fieldset hides the field, returns the choice instead. */
function toVisible(field: Field): Field | undefined {
  for (let fold = field.closest("details"); fold; fold = fold.parentElement?.closest("details") ?? null)
    fold.open = true;
  const all = field.checkVisibility()
    ? [field]
    : [...(field.closest("fieldset")?.querySelectorAll<Field>(FIELDS) ?? [])];
  return all.find((one) => one.checkVisibility());
}

function fieldNamedBy(error: unknown): string | null | undefined {
  if (error instanceof FieldError) return error.field;
  return error instanceof ApiError ? error.param : undefined;
}

/** The field that an error is about, or else `otherwise`; undefined if neither names one that the form has. */
export function fieldOfError(form: HTMLFormElement, error: unknown, otherwise?: string): Field | undefined {
  const param = fieldNamedBy(error) ?? otherwise;
  const field = param === undefined ? undefined : fieldOfParam(fieldsIn(form), param);
  return field && toVisible(field);
}

/** What is wrong with a field according to its own constraints, and what would be right. */
function problemOf({ validity, title, type, validationMessage }: Field): string {
  if (validity.valueMissing) return type.startsWith("select") ? "Choose one." : "Fill in this field.";
  if (validity.patternMismatch && title) return `${title}.`;
  if (validity.typeMismatch && type === "email") return "Write an e-mail address, as in ann@example.org.";
  if (validity.typeMismatch && type === "url") return "Write an address, as in https://example.org.";
  return validationMessage;
}

export interface Problem {
  field: Field;
  /** What would be right. */
  message: string;
}

/** The fields whose content does not meet their constraints, in the order of the form. */
export const findProblems = (form: HTMLFormElement): Problem[] =>
  fieldsIn(form)
    .filter((field) => !field.validity.valid)
    .map((field) => ({ field: toVisible(field) ?? field, message: problemOf(field) }));

/** What labels a field, or the field itself. A message comes after it, because words within a label become part of the field's name. */
const around = (field: Field): Element => field.closest("label") ?? field;

/** The label of a field in words. */
export const labelOf = (field: Field): string =>
  field.ariaLabel ?? field.labels?.[0]?.firstChild?.textContent?.trim() ?? field.name;

/** Marks a field as wrong and shows the message beside it, until the returned function is called. `id`: the message's id. */
export function markField(field: Field, message: HTMLElement, id: string): () => void {
  const before = field.getAttribute("aria-describedby");
  around(field).after(message);
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-describedby", [before, id].filter(Boolean).join(" "));
  return () => {
    message.remove();
    field.removeAttribute("aria-invalid");
    if (before === null) field.removeAttribute("aria-describedby");
    else field.setAttribute("aria-describedby", before);
  };
}
