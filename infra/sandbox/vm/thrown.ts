const MAX_MESSAGE = 2_000;
const MAX_STACK = 20_000;

/** An exception of a script, as plain values. */
export interface Thrown {
  name?: string | null;
  message: string;
  stack?: string | null;
}

/** The line of the script that a stack names first, counted from 1. */
export function lineInStack(stack: string | null | undefined): number | null {
  const line = stack?.slice(0, MAX_STACK).match(/script\.js:(\d+)/)?.[1];
  return line ? Number(line) : null;
}

/** The exception in one line, at most 2,000 characters. */
export const describeThrown = ({ name, message }: Thrown): string =>
  `${name && name !== "Error" ? `${name}: ` : ""}${message}`.slice(0, MAX_MESSAGE);
