import type { RunFailureCode, TickOutcome } from "#services/workflows/tick.ts";

/** What was thrown, as the guest tells it. */
export interface Thrown {
  name?: string | null;
  message: string;
  stack?: string | null;
}

/** Line of the script, counted from 1, where a stack says one. */
export function lineOf(stack: string | null | undefined): number | null {
  const found = stack?.slice(0, 20_000).match(/script\.js:(\d+)/)?.[1];
  return found ? Number(found) : null;
}

/** The thrown in so many words. */
export const wordsOf = ({ name, message }: Thrown): string =>
  `${name && name !== "Error" ? `${name}: ` : ""}${message}`.slice(0, 2_000);

/** The script is at fault: run() has failed. */
export class RunFailure extends Error {
  readonly code: RunFailureCode;
  readonly line: number | null;
  constructor(code: RunFailureCode, message: string, line: number | null = null) {
    super(message);
    this.code = code;
    this.line = line;
  }
  end(because = ""): TickOutcome["end"] {
    const { code, message, line } = this;
    return { type: "failed", code, message: message + because, line };
  }
}

function codeOf({ name, message }: Thrown): RunFailureCode {
  if (name === "InternalError" && message.includes("out of memory")) return "out_of_memory";
  return name === "TypeError" && message.includes("not serialisable") ? "not_serialisable" : "run_error";
}

export const failureOf = (thrown: Thrown): RunFailure =>
  new RunFailure(codeOf(thrown), wordsOf(thrown), lineOf(thrown.stack));
