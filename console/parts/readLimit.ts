import { FieldError } from "../format/FieldError.ts";

interface Limit {
  isOn: boolean;
  /** The name of the field of the entries. */
  field: string;
  /** The label of the switch. */
  name: string;
  /** The noun for the entries: "models". */
  what: string;
}

/** The entries of a limit; null if its switch is off, so that all are allowed. Throws a FieldError if there are entries while it is off. */
export function readLimit<T>(entries: T[], { isOn, field, name, what }: Limit): T[] | null {
  if (isOn) return entries;
  if (entries.length === 0) return null;
  throw new FieldError(field, `There are ${what} that would limit nothing: choose “${name}”, or leave them out.`);
}
