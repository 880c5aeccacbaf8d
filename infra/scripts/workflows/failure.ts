/** Line of the script, counted from 1, where a stack says one. */
export function lineOf(stack: string | null | undefined): number | null {
  const found = stack?.slice(0, 20_000).match(/script\.js:(\d+)/)?.[1];
  return found ? Number(found) : null;
}

/** What was thrown, as the guest tells it. */
export interface Thrown {
  name: string | null;
  message: string;
  stack: string | null;
}

/** The thrown in so many words. */
export const wordsOf = ({ name, message }: { name?: string | null; message: string }): string =>
  `${name && name !== "Error" ? `${name}: ` : ""}${message}`.slice(0, 2_000);
