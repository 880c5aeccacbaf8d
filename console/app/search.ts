/* Every filter is part of the address. These functions define its values and read them from there. */

/** The value if it is one of the choices. */
export const readChoice = <T extends string>(value: unknown, choices: readonly T[]): T | undefined =>
  choices.find((choice) => choice === value);

/** A text that is not empty. The router reads `?q=12` as a number. */
export const readText = (value: unknown): string | undefined =>
  typeof value === "string" || typeof value === "number" ? String(value) || undefined : undefined;

/** Several texts that are not empty. */
export const readTexts = <Name extends string>(search: Record<string, unknown>, ...names: Name[]) =>
  Object.fromEntries(names.map((name) => [name, readText(search[name])])) as Record<Name, string | undefined>;

/** A count from 0 on. */
export const readNumber = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
