import { StepSettings } from "#events/definition.ts";
import type { StepEntry } from "#events/runParts.ts";
import { DAY_MS } from "#events/units.ts";
import { findStep } from "../deciders/runState.ts";
import type { History } from "./history.ts";
import type { Script } from "./script.ts";
import { StepFailure } from "./tick.ts";

/* Decides whether, and when, a step is retried after an attempt failed or was lost. */

const DEFAULT_SETTINGS = StepSettings.parse({});
/** Attempts at one step that may lose their worker or their runner process. They do not count as retries. */
const MAX_LOST_ATTEMPTS = 5;
/** Delay after the first attempt that failed because of the service. It doubles each time. */
const SERVICE_RETRY_MS = 1_000;
const serviceDelay = (losses: number): number => SERVICE_RETRY_MS * 2 ** losses;
const MAX_RETRY_DELAY_MS = 7 * DAY_MS;

type FailedEntry = Extract<StepEntry, { type: "step_attempt_failed" }>;

/** When the next attempt starts after a failed one; null if there is none. `chance`: 0 to 1, for the jitter. */
export function retryAt(
  { retries, backoff }: StepSettings,
  failed: { attempt: number; lost: number; now: number; chance: number } & Pick<
    StepFailure,
    "final" | "retry_after_ms"
  >,
): string | null {
  const failures = failed.attempt - failed.lost;
  if (failed.final || failures > retries) return null;
  const { kind, initial_ms, factor, max_ms, jitter } = backoff;
  // After a lost first attempt, waits as long as after a failed one.
  const nth = Math.max(failures, 1);
  const delay = Math.min(max_ms, kind === "fixed" ? initial_ms : initial_ms * factor ** (nth - 1));
  const spread = delay * (1 + jitter * (2 * failed.chance - 1));
  const wait = Math.min(MAX_RETRY_DELAY_MS, Math.max(spread, failed.retry_after_ms ?? 0));
  return new Date(failed.now + wait).toISOString();
}

export const stepSettings = (script: Script, name: string): StepSettings => script.steps[name] ?? DEFAULT_SETTINGS;

const failure = (fields: Pick<FailedEntry, "key" | "attempt" | "code" | "retry_at">, message: string): FailedEntry => ({
  type: "step_attempt_failed",
  ...fields,
  error: { message, line: null },
  duration_ms: 0,
  logs: [],
  secrets: [],
});

/** The failure of a step whose worker was lost and that may not run again; undefined if it may. */
export function failLostStep(history: History, script: Script, key: string): StepEntry | undefined {
  const step = "steps" in history.state ? findStep(history.state, key) : undefined;
  if (!step || step.lost === 0) return undefined;
  const runsOnce = stepSettings(script, step.name).on_lost === "fail";
  if (!runsOnce && step.lost <= MAX_LOST_ATTEMPTS) return undefined;
  const message = runsOnce
    ? "The process that ran this step was lost, and the step may not run twice."
    : `The process that ran this step was lost ${step.lost} times.`;
  return failure({ key, attempt: step.attempt, code: "step_lost", retry_at: null }, message);
}

/** The failure of an attempt that the service could not run. Retried with a growing delay, except for the last one. */
export function failForRetry(
  { losses }: Pick<History, "losses">,
  { key, attempt, now }: { key: string; attempt: number; now: number },
): StepEntry {
  const before = losses.get(key) ?? 0;
  const retry_at = before >= MAX_LOST_ATTEMPTS ? null : new Date(now + serviceDelay(before)).toISOString();
  const message = "The service could not run the step; its log has the reason.";
  return failure({ key, attempt, code: "runner_lost", retry_at }, message);
}

/**
 * The failure of a step that lacked something the service provides. Like a lost attempt it costs no retry and is repeated after a
 * growing delay, unless the step may not run twice.
 */
export function toServiceFailure({ on_lost }: StepSettings, failed: StepFailure, lostBefore: number): StepFailure {
  const { code, message, line, column, logs } = failed;
  if (code !== "step_error" || failed.final || on_lost === "fail" || lostBefore >= MAX_LOST_ATTEMPTS) return failed;
  const retry_after_ms = Math.max(failed.retry_after_ms ?? 0, serviceDelay(lostBefore));
  return new StepFailure("runner_lost", message, { retry_after_ms, line, column, logs });
}

/**
 * When a failed step is retried. `lostBefore`: attempts that lost their worker or their runner process. A second loss is probably
 * not the last one, for example while the machine lacks memory, so from then on the delay grows.
 */
export function retryFailure(
  settings: StepSettings,
  { attempt, lostBefore, now }: { attempt: number; lostBefore: number; now: number },
  error: StepFailure,
): string | null {
  const isLost = error.code === "runner_lost";
  const lost = isLost ? lostBefore + 1 : lostBefore;
  const mayNotRepeat = isLost && (settings.on_lost === "fail" || lost > MAX_LOST_ATTEMPTS);
  const lossDelay = isLost && lostBefore > 0 ? serviceDelay(lostBefore) : 0;
  const retry_after_ms = Math.max(error.retry_after_ms ?? 0, lossDelay);
  const final = error.final || mayNotRepeat;
  return retryAt(settings, { attempt, lost, now, chance: Math.random(), final, retry_after_ms });
}
