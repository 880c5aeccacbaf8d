import type { RunFailureCode, TickOutcome } from "#services/workflows/tick.ts";
import { describeThrown, NO_PLACE, placeInStack, type Place, type ScriptException } from "../vm/thrown.ts";

/** A failure of `run()` that its script caused. */
export class RunFailure extends Error {
  readonly code: RunFailureCode;
  readonly place: Place;
  constructor(code: RunFailureCode, message: string, place = NO_PLACE) {
    super(message);
    this.code = code;
    this.place = place;
  }
  end(suffix = ""): TickOutcome["end"] {
    const { code, message, place } = this;
    return { type: "failed", code, message: message + suffix, ...place };
  }
}

function failureCode({ name, message }: ScriptException): RunFailureCode {
  if (name === "InternalError" && message.includes("out of memory")) return "out_of_memory";
  return name === "TypeError" && message.includes("not serialisable") ? "not_serialisable" : "run_error";
}

export const runFailure = (thrown: ScriptException): RunFailure =>
  new RunFailure(failureCode(thrown), describeThrown(thrown), placeInStack(thrown.stack));
