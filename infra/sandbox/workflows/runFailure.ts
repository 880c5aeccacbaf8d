import type { RunFailureCode, TickOutcome } from "#services/workflows/tick.ts";
import { describeThrown, lineInStack, type Thrown } from "../vm/thrown.ts";

/** A failure of `run()` that its script caused. */
export class RunFailure extends Error {
  readonly code: RunFailureCode;
  readonly line: number | null;
  constructor(code: RunFailureCode, message: string, line: number | null = null) {
    super(message);
    this.code = code;
    this.line = line;
  }
  end(suffix = ""): TickOutcome["end"] {
    const { code, message, line } = this;
    return { type: "failed", code, message: message + suffix, line };
  }
}

function failureCode({ name, message }: Thrown): RunFailureCode {
  if (name === "InternalError" && message.includes("out of memory")) return "out_of_memory";
  return name === "TypeError" && message.includes("not serialisable") ? "not_serialisable" : "run_error";
}

export const runFailure = (thrown: Thrown): RunFailure =>
  new RunFailure(failureCode(thrown), describeThrown(thrown), lineInStack(thrown.stack));
