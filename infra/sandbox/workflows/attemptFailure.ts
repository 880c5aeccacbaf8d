import type { StepFailureCode } from "#services/workflows/tick.ts";
import { describeThrown, NO_PLACE, placeInStack, type ScriptException } from "../vm/thrown.ts";
import { nestsTooDeep, STEP_MEMORY_BYTES } from "./limits.ts";
import type { StepOutcome } from "./messages.ts";
import { limitRetryAfter } from "./retryAfter.ts";

type FailureDetails = Extract<StepOutcome, { failed: unknown }>["failed"];

/** A step's attempt failed because of its script. */
export class AttemptFailure extends Error {
  readonly details: FailureDetails;
  constructor(details: Partial<FailureDetails> & { message: string }) {
    super(details.message);
    this.details = { code: "step_error", final: false, retry_after_ms: null, ...NO_PLACE, ...details };
  }
}

export const limitFailure = (message: string): AttemptFailure =>
  new AttemptFailure({ code: "step_limit", message, final: true });

/** The failure for an exception of a script; `more` overrides the defaults. */
export const scriptFailure = (thrown: ScriptException, more: Partial<FailureDetails> = {}): AttemptFailure =>
  thrown.name === "InternalError" && thrown.message === "out of memory"
    ? limitFailure(`The script needed more memory than ${STEP_MEMORY_BYTES / 1024 ** 2} MiB.`)
    : new AttemptFailure({ message: describeThrown(thrown), ...placeInStack(thrown.stack), ...more });

/** What a step threw, in the form of `describe` in stepGuest.ts. */
export interface ThrownByStep extends ScriptException {
  /** The code, if the error came from the host. */
  code: StepFailureCode | null;
  final: boolean;
  /** Seconds. */
  retryAfter: number | null;
}

/** `lastRetryAfter`: seconds of the last answer's Retry-After header, used if the error names no time. */
export const stepRejection = (thrown: ThrownByStep, lastRetryAfter: number | null): AttemptFailure =>
  scriptFailure(thrown, {
    code: thrown.code ?? "step_error",
    final: thrown.final,
    retry_after_ms: limitRetryAfter(thrown.retryAfter ?? lastRetryAfter),
  });

/** Returns the result. Throws an AttemptFailure when it is too large. */
export function checkResult(json: string, maxBytes: number): string {
  if (Buffer.byteLength(json) > maxBytes) {
    const message = `The result is larger than ${maxBytes} bytes.`;
    throw new AttemptFailure({ code: "step_result_too_large", message, final: true });
  }
  if (nestsTooDeep(json)) throw new AttemptFailure({ message: "The result nests too deep.", final: true });
  return json;
}
