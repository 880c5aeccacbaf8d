import { setTimeout as sleep } from "node:timers/promises";
import { StepSettings } from "#events/definition.ts";
import { stepId } from "#events/ids.ts";
import type { Entry } from "#events/runParts.ts";
import type { HostOfStep } from "./host/index.ts";
import type { AskingStep } from "./host/step.ts";
import type { History } from "./history.ts";
import type { Script } from "./script.ts";
import { StepFailure, type WorkflowRunner } from "./tick.ts";
import { RunGone, type Values } from "./values.ts";

export interface AttemptDeps {
  runner: Pick<WorkflowRunner, "step">;
  openHost(step: AskingStep): HostOfStep;
  onError(error: unknown, stream: string): void;
  /** How a value does not fit a JSON Schema, in so many words; undefined where it does. */
  misfit(schema: Record<string, unknown>, value: unknown): string | undefined;
}

const DEFAULTS = StepSettings.parse({});
/** Attempts of one step whose worker, or the process that it had them run in, may be lost. They are no failures of the step's own. */
const LOST = 5;
/** How often and how long after each other a result is tried to be kept. */
const KEEPS = 60;
const KEEP_AGAIN_MS = 500;
const UNREADY_MS = 1_000;
const MOST_DELAY_MS = 7 * 24 * 60 * 60 * 1000;

export interface Attempt {
  key: string;
  attempt: number;
  epoch: number;
}

/** When the next attempt begins after one that failed; null: there is none. */
export function retryAt(
  { retries, backoff }: StepSettings,
  failed: { attempt: number; lost: number; now: number; chance: number } & Pick<
    StepFailure,
    "final" | "retry_after_ms"
  >,
): string | null {
  const own = failed.attempt - failed.lost;
  if (failed.final || own > retries) return null;
  const { kind, initial_ms, factor, max_ms, jitter } = backoff;
  // one that was lost before any has failed is tried again as after the first failure
  const nth = Math.max(own, 1);
  const delay = Math.min(max_ms, kind === "fixed" ? initial_ms : initial_ms * factor ** (nth - 1));
  const spread = delay * (1 + jitter * (2 * failed.chance - 1));
  const wait = Math.min(MOST_DELAY_MS, Math.max(spread, failed.retry_after_ms ?? 0));
  return new Date(failed.now + wait).toISOString();
}

export const settingsOf = (script: Script, name: string): StepSettings => script.steps[name] ?? DEFAULTS;

/** A step whose worker was lost and that is not tried again; undefined where it is. */
export function givenUp(history: History, script: Script, key: string): Entry | undefined {
  const step = "steps" in history.state ? history.state.steps[key] : undefined;
  if (!step || step.lost === 0) return undefined;
  const once = settingsOf(script, step.name).on_lost === "fail";
  if (!once && step.lost <= LOST) return undefined;
  const message = once
    ? "The process that ran this step was lost, and the step is not to be tried twice."
    : `The process that ran this step was lost ${step.lost} times.`;
  const error = { message, line: null };
  const spent = { duration_ms: 0, logs: [], secrets: [] };
  return {
    type: "step_attempt_failed",
    key,
    attempt: step.attempt,
    code: "step_lost",
    retry_at: null,
    error,
    ...spent,
  };
}

/** Throws StepFailure where the arguments are not what the step says that it takes. */
function checkArgs({ misfit }: AttemptDeps, { input }: StepSettings, name: string, args: string): void {
  const wrong = input && misfit(input, JSON.parse(args));
  if (wrong) throw new StepFailure("invalid_step_args", `The arguments of the step ${name}: ${wrong}`, { final: true });
}

/** Keeps a result, if need be while the place for it is away: another attempt would do the step's work again. */
async function kept(deps: AttemptDeps, { stream }: History, values: Values, json: string, signal: AbortSignal) {
  for (let tries = 1; ; tries++)
    try {
      return await values.keep(json);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof RunGone) throw error;
      if (tries === 1) deps.onError(error, stream);
      if (tries === KEEPS) throw new StepFailure("runner_lost", "The result of the step could not be kept.");
      await sleep(KEEP_AGAIN_MS, undefined, { signal });
    }
}

/** An attempt that came to nothing for a reason of the service's own. It is tried again later and later, and not for ever. */
export function notRun(
  { losses }: Pick<History, "losses">,
  { key, attempt, now }: Pick<Attempt, "key" | "attempt"> & { now: number },
): Entry {
  const before = losses.get(key) ?? 0;
  const retry_at = before >= LOST ? null : new Date(now + UNREADY_MS * 2 ** before).toISOString();
  const error = { message: "The step could not be run; the service has noted why.", line: null };
  const spent = { duration_ms: 0, logs: [], secrets: [] };
  return { type: "step_attempt_failed", key, attempt, code: "runner_lost", retry_at, error, ...spent };
}

/** Runs one attempt at a step. Throws the signal's reason where the attempt is another process's now. */
export async function runAttempt(
  deps: AttemptDeps,
  { history, script, values }: { history: History; script: Script; values: Values },
  { key, attempt, epoch, worker, recorded }: Attempt & Pick<AskingStep, "recorded" | "worker">,
  signal: AbortSignal,
): Promise<Entry> {
  const { created, organization_id, steps, state } = history;
  const { name, args } = steps.get(key)!;
  const settings = settingsOf(script, name);
  const context = {
    run_id: created.run_id,
    step_id: stepId(created.run_id, key),
    attempt,
    idempotency_key: stepId(created.run_id, `idempotency ${key}`),
    run_as: created.run_as,
  };
  const { host, redact, redactJson, resolved } = deps.openHost({
    ...context,
    organization_id,
    workflow_id: created.workflow_id,
    key,
    epoch,
    worker,
    recorded,
  });
  const started = performance.now();
  const spent = () => ({ duration_ms: Math.round(performance.now() - started), secrets: resolved() });
  try {
    const given = await values.json(args);
    checkArgs(deps, settings, name, given);
    const { json, logs } = await deps.runner.step({
      organization_id,
      js: script.js,
      sha256: script.sha256,
      step: name,
      args: given,
      context,
      host,
      timeout_ms: Math.min(settings.timeout_s, created.limits.step_timeout_s) * 1_000,
      max_result_bytes: created.limits.max_result_bytes,
      signal,
    });
    const result = await kept(deps, history, values, redactJson(json), signal);
    return { type: "step_completed", key, attempt, result, logs: logs.map(redact), ...spent() };
  } catch (error) {
    if (signal.aborted) throw error;
    const failure = error instanceof StepFailure ? error : undefined;
    if (!failure) throw error;
    const { code, final, retry_after_ms, line, logs } = failure;
    const isLost = code === "runner_lost";
    const before = ("steps" in state ? (state.steps[key]?.lost ?? 0) : 0) + (history.losses.get(key) ?? 0);
    const lost = isLost ? before + 1 : before;
    const retry_at = retryAt(settings, {
      attempt,
      lost,
      now: Date.now(),
      chance: Math.random(),
      final: final || (isLost && (settings.on_lost === "fail" || lost > LOST)),
      retry_after_ms,
    });
    return {
      type: "step_attempt_failed",
      key,
      attempt,
      code,
      retry_at,
      error: { message: redact(failure.message), line },
      logs: logs.map(redact),
      ...spent(),
    };
  }
}
