import type { RunFailureCode, TickOutcome } from "#services/workflows/tick.ts";
import { RUN_MEMORY_BYTES } from "./limits.ts";
import { describeThrown, NO_PLACE, placeInStack, type Place, type ScriptException } from "../vm/thrown.ts";

/** `run()` failed because of its script. */
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

const OUT_OF_MEMORY = `run() needed more memory than ${RUN_MEMORY_BYTES / 1024 ** 2} MiB, which its arguments and the results of all its steps share. Save what is large as a file in a step (ctx.files.save), and return its id.`;

/** The failure of a run whose code threw this. */
export function runFailure(thrown: ScriptException): RunFailure {
  const { name, message, stack } = thrown;
  const place = placeInStack(stack);
  if (name === "InternalError" && message.includes("out of memory"))
    return new RunFailure("out_of_memory", OUT_OF_MEMORY, place);
  const isUnserialisable = name === "TypeError" && message.includes("not serialisable");
  return new RunFailure(isUnserialisable ? "not_serialisable" : "run_error", describeThrown(thrown), place);
}
