const MAX_MESSAGE = 2_000;
const MAX_STACK = 20_000;

/** An exception of a script, as plain values. */
export interface ScriptException {
  name?: string | null;
  message: string;
  stack?: string | null;
}

/** A place in a script's source; both count from 1. Types are replaced by blanks, so that places stay valid. */
export interface Place {
  line: number | null;
  column: number | null;
}
export const NO_PLACE: Place = { line: null, column: null };

/** The topmost place of the script in a stack. */
export function placeInStack(stack: string | null | undefined): Place {
  const [, line, column] = /script\.js:(\d+)(?::(\d+))?/.exec(stack?.slice(0, MAX_STACK) ?? "") ?? [];
  return line ? { line: Number(line), column: column ? Number(column) : null } : NO_PLACE;
}

/** The exception in one line, at most 2,000 characters. */
export const describeThrown = ({ name, message }: ScriptException): string =>
  `${name && name !== "Error" ? `${name}: ` : ""}${message}`.slice(0, MAX_MESSAGE);
