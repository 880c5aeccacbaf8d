import type { Route } from "#events/route.ts";
import type { Usage } from "#events/thread.ts";
import type { CircuitState, TargetFailureDetails } from "./circuits.ts";
import { ModelError } from "./model.ts";

/** A request of the turn that failed, or a target that was passed over. */
export interface TargetFailure {
  round: number;
  /** `provider/model`. */
  target: string;
  reason: string;
  duration_ms: number;
  /** What it took all the same. */
  usage?: Usage;
}

/** The target was not asked, because its circuit is open. */
export const CIRCUIT_OPEN = "circuit_open";
const NO_CREDENTIAL = "no_credential";
/** The process was lost that asked the target. This says nothing about the target, which may be asked again. */
export const WORKER_LOST = "worker_lost";
/** A filter stopped the prompt or the answer. */
export const CONTENT_FILTER = "content_filter";
/** A target said nothing within the time that the route gives it. */
export class FirstWordTimeout extends ModelError {}
/** A target whose provider has no credential any more. */
export class MissingCredential extends ModelError {}

/** Why a target did not answer, as the event has it. `spoke`: it had begun to answer. */
export function failureReason(error: ModelError, spoke: boolean): string {
  if (error instanceof FirstWordTimeout) return "timeout";
  if (error instanceof MissingCredential) return NO_CREDENTIAL;
  if (error.reason !== undefined) return error.reason;
  if (spoke) return "cut";
  if (error.status !== undefined) return error.status === 408 ? "timeout" : String(error.status);
  return error.kind === "refused" ? "refused" : "connection";
}

/** Whether a failure says that its target is down: no answer, or one as of a broken server. Busy (429) is not down. */
export const saysDown = (error: ModelError): boolean =>
  error.kind === "transient" &&
  // the time was the alias's: the model may think for longer
  !(error instanceof FirstWordTimeout) &&
  (error.status === undefined || error.status === 408 || error.status >= 500);

/** What the circuit of a target learns from a failure. */
export function describeFailure(cause: unknown, spoke: boolean): TargetFailureDetails {
  if (!(cause instanceof ModelError)) return { reason: "connection" };
  return { reason: failureReason(cause, spoke), retry_after_ms: cause.retry_after_ms, isDown: saysDown(cause) };
}

const isNamed = (on: string[], reason: string): boolean =>
  on.includes(reason) || (/^5\d\d$/.test(reason) && on.includes("5xx"));

/** Whether another target is asked after this failure. One without a credential is always passed over. `status`: of the provider. */
export const isCovered = ({ on }: Pick<Route, "on">, reason: string, status?: number): boolean =>
  reason === NO_CREDENTIAL || isNamed(on, reason) || (status !== undefined && isNamed(on, String(status)));

/** Whether the same target may be asked again in the same round. One that said nothing has had its time. */
const isPassing = (reason: string): boolean => /^(?:409|429|5\d\d|connection|cut)$/.test(reason);

const wasRefused = ({ reason }: TargetFailure): boolean =>
  reason !== CIRCUIT_OPEN && reason !== WORKER_LOST && !isPassing(reason);

/** Whether the turn may fail another time. Counts what the log holds, so that a takeover has no more than is left. */
export const hasBudget = ({ max_attempts, max_seconds }: Route, failures: TargetFailure[]): boolean =>
  failures.filter(wasAsked).length < max_attempts && spentMs(failures) < max_seconds * 1_000;
export const spentMs = (failures: TargetFailure[]): number =>
  failures.reduce((sum, { duration_ms }) => sum + duration_ms, 0);
const wasAsked = ({ reason }: TargetFailure): boolean =>
  reason !== CIRCUIT_OPEN && reason !== NO_CREDENTIAL && reason !== WORKER_LOST;

interface Choice {
  target: string;
  /** Requests of this round to it that failed. */
  tried: number;
  /** Targets whose turn it was, but whose circuits are open. */
  passed: string[];
}

/**
 * The target to ask next, from the failures of this round: the one that failed least, in the order of the route. `first` comes
 * before the others. If no circuit is closed, a round still asks one target, and again only what it has asked: open circuits
 * alone refuse no turn, unless all targets are silent.
 */
export function nextTarget(
  route: Pick<Route, "targets">,
  failures: TargetFailure[],
  { first, circuit }: { first: string | undefined; circuit(target: string): CircuitState },
): Choice | undefined {
  const targets = first === undefined ? route.targets : [first, ...route.targets.filter((target) => target !== first)];
  const choices = targets
    .map((target) => ({ target, failures: failures.filter((failure) => failure.target === target) }))
    .filter(({ failures: own }) => own.filter(wasRefused).length === 0)
    .map(({ target, failures: own }) => ({ target, tried: own.filter(wasAsked).length }))
    .toSorted((a, b) => a.tried - b.tried);
  const closed = choices.find(({ target }) => circuit(target) === "closed");
  const hasAsked = failures.some(wasAsked);
  const choice =
    closed ?? choices.find(({ target, tried }) => (hasAsked ? tried > 0 : true) && circuit(target) === "open");
  if (!choice) return undefined;
  const passed = choices.slice(0, choices.indexOf(choice)).filter(({ tried }) => tried === 0);
  return { ...choice, passed: passed.map(({ target }) => target) };
}
