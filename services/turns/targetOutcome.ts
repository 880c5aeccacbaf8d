import { SILENCE_MS, type TargetFailureDetails, type TargetOutcome } from "./circuits.ts";
import { ModelError } from "./model.ts";
import { FirstWordTimeout } from "./nextTarget.ts";

/** `hadItsTime`: the target had the full time of the route, not only what was left of the turn's. */
export const outcomeOf = (error: unknown, hadItsTime: boolean): TargetOutcome => {
  if (error instanceof FirstWordTimeout) return hadItsTime ? "slow" : "other";
  return error instanceof ModelError && error.kind !== "refused" ? "failed" : "other";
};

/**
 * The shortest silence at the end of a turn that counts against a target. An alias only orders its targets by this and refuses
 * nothing, so it can be short.
 */
const MIN_SILENCE_MS = 5_000;

/** What a target's circuit learns from an aborted request. */
export function describeAbort(
  signal: AbortSignal,
  hasBegun: boolean,
  waited_ms: number,
): [TargetOutcome, TargetFailureDetails] {
  const opens_after_ms = signal.reason === "late" ? MIN_SILENCE_MS : SILENCE_MS;
  const isQuiet = !hasBegun && (signal.reason === "late" || signal.reason === "stopped");
  return [isQuiet ? "quiet" : "other", { reason: "timeout", quiet: { ms: waited_ms, opens_after_ms } }];
}
