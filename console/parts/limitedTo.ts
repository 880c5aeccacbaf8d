interface Limit {
  isOn: boolean;
  /** What the switch is called. */
  name: string;
  /** What the entries are: "models". */
  what: string;
}

/** The entries that a switch limits something to; null: it is off, and all are allowed. Throws an Error where entries would count for nothing. */
export function limitedTo<T>(entries: T[], { isOn, name, what }: Limit): T[] | null {
  if (isOn) return entries;
  if (entries.length === 0) return null;
  throw new Error(`There are ${what} that would limit nothing: choose “${name}”, or leave them out.`);
}
