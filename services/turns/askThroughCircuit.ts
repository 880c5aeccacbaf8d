import { currentTime } from "#events/clock.ts";
import { NO_OUTPUT } from "#events/thread.ts";
import { AnswerInterrupted, hasOutput, type ModelAnswer } from "./askModel.ts";
import { circuitKey, PROBE_MS, SILENCE_MS, type Circuits, type TargetFailureDetails } from "./circuits.ts";
import { ModelError } from "./model.ts";
import { describeFailure, isOutage } from "./nextTarget.ts";

interface NamedModel {
  organization_id: string;
  /** `provider/model`. */
  name: string;
  /** Aborts with an AbortReason. */
  signal: AbortSignal;
  /** Milliseconds left for the turn. */
  left_ms: number;
}

/**
 * A model counts as down when it was silent for the whole time that requests had. A request with more than this many times as long
 * is sent all the same, because those silences say nothing about it.
 */
const PATIENCE_FACTOR = 2;

function refuseDown(name: string, { reason, open_until }: { reason: string; open_until: number }): AnswerInterrupted {
  const left_ms = open_until - currentTime();
  const when = left_ms > 0 ? `It is asked again in ${Math.ceil(left_ms / 1_000)} s.` : "It is being asked again now.";
  const message = `The model ${name} is down: its last requests failed (${reason}). ${when}`;
  const retry_after_ms = Math.max(PROBE_MS, left_ms);
  return new AnswerInterrupted(NO_OUTPUT, new ModelError("transient", message, { retry_after_ms }));
}

/** How a request shows that its model is down; undefined if it does not. */
function findOutage(error: unknown, waited_ms: number, signal: AbortSignal): TargetFailureDetails | undefined {
  if (!(error instanceof AnswerInterrupted) || (signal.aborted && signal.reason !== "late")) return undefined;
  const { cause } = error;
  const spoke = hasOutput(error);
  // ignores the wait that a provider asks for: a single error must not refuse requests of others
  if (!signal.aborted && cause instanceof ModelError && isOutage(cause))
    return { ...describeFailure(cause, spoke), retry_after_ms: undefined };
  const hasAnswered = error.hasBegun || (cause instanceof ModelError && cause.status !== undefined);
  if (hasAnswered) return undefined;
  // an open circuit refuses requests, so only a minute of silence counts, of one turn or of several shorter ones
  if (waited_ms >= SILENCE_MS) return { reason: "timeout", isDown: true };
  const quiet = { ms: waited_ms, opens_after_ms: Number.POSITIVE_INFINITY };
  return signal.aborted ? { reason: "timeout", quiet } : undefined;
}

/**
 * Asks a model named by the turn itself. If the model is down, its circuit is open: one request at a time probes it, and the others
 * fail at once (ADR 31). All attempts of a request count as one failure. Throws AnswerInterrupted.
 */
export async function askThroughCircuit(
  circuits: Circuits,
  { organization_id, name, signal, left_ms }: NamedModel,
  ask: () => Promise<ModelAnswer>,
): Promise<ModelAnswer> {
  const key = circuitKey(organization_id, name);
  const outage = circuits.findOutage(key);
  const isPatient = outage !== undefined && left_ms > PATIENCE_FACTOR * outage.patience_ms;
  if (outage && !isPatient) throw refuseDown(name, outage);
  // only aliases skip a target that is busy or slower than they allow: an answer to this turn does not change that
  if (circuits.state(key) !== "closed" && !isPatient) return ask();
  const report = circuits.begin(key);
  const since = performance.now();
  try {
    const answer = await ask();
    report("answered");
    return answer;
  } catch (error) {
    const found = findOutage(error, performance.now() - since, signal);
    if (!found) report("other");
    else report(found.quiet ? "quiet" : "failed", found);
    throw error;
  }
}
