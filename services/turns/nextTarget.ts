import type { Route } from "#events/route.ts";
import type { Usage } from "#events/thread.ts";
import type { CircuitState, TargetFailureDetails } from "./circuits.ts";
import { ModelError } from "./model.ts";

/** A failed request of the turn, or a target that was skipped. */
export interface TargetFailure {
  round: number;
  /** `provider/model`. */
  target: string;
  reason: string;
  duration_ms: number;
  /** Usage despite the failure. */
  usage?: Usage;
}

/** The target was not asked, because its circuit is open. */
export const CIRCUIT_OPEN = "circuit_open";
const NO_CREDENTIAL = "no_credential";
/** The process that asked the target was lost. This says nothing about the target, which may be asked again. */
export const WORKER_LOST = "worker_lost";
/** A filter stopped the prompt or the answer. */
export const CONTENT_FILTER = "content_filter";
/** A target sent nothing within the route's timeout. */
export class FirstWordTimeout extends ModelError {}
/** The provider of a target no longer has a credential. */
export class MissingCredential extends ModelError {}

/** The reason that the event records. `spoke`: whether the target had begun to answer. */
export function failureReason(error: ModelError, spoke: boolean): string {
  if (error instanceof FirstWordTimeout) return "timeout";
  if (error instanceof MissingCredential) return NO_CREDENTIAL;
  if (error.reason !== undefined) return error.reason;
  if (spoke) return "cut";
  if (error.status !== undefined) return error.status === 408 ? "timeout" : String(error.status);
  return error.kind === "refused" ? "refused" : "connection";
}

/** Whether a failure shows that its target is down: no answer, or a server error. Busy (429) is not down. */
export const isOutage = (error: ModelError): boolean =>
  error.kind === "transient" &&
  // the time limit was the alias's: the model may think longer
  !(error instanceof FirstWordTimeout) &&
  (error.status === undefined || error.status === 408 || error.status >= 500);

/** What a target's circuit learns from a failure. */
export function describeFailure(cause: unknown, spoke: boolean): TargetFailureDetails {
  if (!(cause instanceof ModelError)) return { reason: "connection" };
  return { reason: failureReason(cause, spoke), retry_after_ms: cause.retry_after_ms, isDown: isOutage(cause) };
}

const isNamed = (on: string[], reason: string): boolean =>
  on.includes(reason) || (/^5\d\d$/.test(reason) && on.includes("5xx"));

/** Whether another target is asked after this failure. A target without a credential is always skipped. `status`: the provider's. */
export const shouldAskNextTarget = ({ on }: Pick<Route, "on">, reason: string, status?: number): boolean =>
  reason === NO_CREDENTIAL || isNamed(on, reason) || (status !== undefined && isNamed(on, String(status)));

/** Whether the same target may be asked again in the same round. Not after a timeout: it has had its time. */
const isRetryable = (reason: string): boolean => /^(?:409|429|5\d\d|connection|cut)$/.test(reason);

const wasRefused = ({ reason }: TargetFailure): boolean =>
  reason !== CIRCUIT_OPEN && reason !== WORKER_LOST && !isRetryable(reason);

/** Whether the turn may fail once more. Counts recorded failures, so that a takeover continues the count. */
export const hasAttemptsLeft = ({ max_attempts, max_seconds }: Route, failures: TargetFailure[]): boolean =>
  failures.filter(wasAsked).length < max_attempts && spentMs(failures) < max_seconds * 1_000;
export const spentMs = (failures: TargetFailure[]): number =>
  failures.reduce((sum, { duration_ms }) => sum + duration_ms, 0);
const wasAsked = ({ reason }: TargetFailure): boolean =>
  reason !== CIRCUIT_OPEN && reason !== NO_CREDENTIAL && reason !== WORKER_LOST;

interface Choice {
  target: string;
  /** Failed requests to it in this round. */
  tried: number;
  /** Targets that were next, but are skipped because their circuits are open. */
  skipped: string[];
}

/**
 * The target to ask next, given the failures of this round: the one with the fewest failures, in the order of the route. `first`
 * comes before the others. If no circuit is closed, a round still asks one target, and retries only that one: open circuits alone
 * refuse no turn, unless all targets are silent.
 */
export function nextTarget(
  route: Pick<Route, "targets">,
  failures: TargetFailure[],
  { first, circuit }: { first: string | undefined; circuit(target: string): CircuitState },
): Choice | undefined {
  const targets = first === undefined ? route.targets : [first, ...route.targets.filter((target) => target !== first)];
  const choices = targets
    .map((target) => ({ target, failures: failures.filter((failure) => failure.target === target) }))
    .filter(({ failures: own }) => !own.some(wasRefused))
    .map(({ target, failures: own }) => ({ target, tried: own.filter(wasAsked).length }))
    .toSorted((a, b) => a.tried - b.tried);
  const closed = choices.find(({ target }) => circuit(target) === "closed");
  const hasAsked = failures.some(wasAsked);
  const choice = closed ?? choices.find(({ target, tried }) => (!hasAsked || tried > 0) && circuit(target) === "open");
  if (!choice) return undefined;
  const skipped = choices.slice(0, choices.indexOf(choice)).filter(({ tried }) => tried === 0);
  return { ...choice, skipped: skipped.map(({ target }) => target) };
}
