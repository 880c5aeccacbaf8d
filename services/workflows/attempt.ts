import { setTimeout as sleep } from "node:timers/promises";
import { currentTime } from "#events/clock.ts";
import { StepSettings } from "#events/definition.ts";
import { idempotencyKey, stepId } from "#events/ids.ts";
import { askerOf } from "#events/runOrigin.ts";
import type { StepEntry } from "#events/runParts.ts";
import { findStep } from "../deciders/runState.ts";
import type { OpenStepHost } from "./host/index.ts";
import type { StepAttempt } from "./host/step.ts";
import type { History } from "./history.ts";
import type { SchemaChecker } from "#events/schemaChecker.ts";
import type { OpenRun } from "./openRun.ts";
import type { Script } from "./script.ts";
import { rankOf } from "./tickCall.ts";
import { StepFailure, type StepHost, type StepResult, type WorkflowRunner } from "./tick.ts";
import { RunGone } from "./values.ts";

export interface AttemptDeps {
  runner: Pick<WorkflowRunner, "step">;
  openHost(step: StepAttempt): OpenStepHost;
  /** The time to compare with times of the log, and to record. */
  now?(): number;
  onError(error: unknown, stream: string): void;
  /** Checks arguments against the input schema of a step. */
  schemas: SchemaChecker;
}

const DEFAULT_SETTINGS = StepSettings.parse({});
/** Attempts at one step that may lose their worker or their runner process. They do not count as retries. */
const MAX_LOST_ATTEMPTS = 5;
/** UTF-16 units of the lines that the steps of a run log together: every process that opens the run reads them all. */
const MAX_STEP_LOGS = 16 * 1024 * 1024;
/** Tries to store a result, 500 ms apart: for 30 s. */
const MAX_STORE_TRIES = 60;
const STORE_RETRY_MS = 500;
/** Delay after the first attempt that the service could not run; it doubles each time. */
const SERVICE_RETRY_MS = 1_000;
const serviceDelay = (losses: number): number => SERVICE_RETRY_MS * 2 ** losses;
const MAX_RETRY_DELAY_MS = 7 * 24 * 60 * 60 * 1000;

export interface Attempt {
  key: string;
  attempt: number;
  epoch: number;
}

type FailedEntry = Extract<StepEntry, { type: "step_attempt_failed" }>;

/** The time of the next attempt after a failed one; null when there is none. `chance`: 0 to 1, for the jitter. */
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
  // A lost first attempt waits as long as a failed one.
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

/** The failure of a step whose worker was lost and that may not run again; undefined when it may. */
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

/** The failure of an attempt that the service could not run, with a growing delay. The last one has no retry. */
export function failForRetry(
  { losses }: Pick<History, "losses">,
  { key, attempt, now }: Pick<Attempt, "key" | "attempt"> & { now: number },
): StepEntry {
  const before = losses.get(key) ?? 0;
  const retry_at = before >= MAX_LOST_ATTEMPTS ? null : new Date(now + serviceDelay(before)).toISOString();
  const message = "The service could not run the step; its log has the reason.";
  return failure({ key, attempt, code: "runner_lost", retry_at }, message);
}

/** Throws StepFailure when the arguments do not match the step's input schema. */
async function checkArgs(
  { schemas }: AttemptDeps,
  organization_id: string,
  { input }: StepSettings,
  { name, args }: { name: string; args: string },
): Promise<void> {
  const wrong = input && (await schemas.check(organization_id, input, JSON.parse(args)));
  if (!wrong) return;
  const message = `The arguments of the step ${name}: ${wrong.pointer || "/"}: ${wrong.message}`;
  throw new StepFailure("invalid_step_args", message, { final: true });
}

/** Stores a result, and waits for a store that is away: another attempt would repeat the step's effects. */
async function storeResult(deps: AttemptDeps, { history, values }: OpenRun, json: string, signal: AbortSignal) {
  for (let tries = 1; ; tries++)
    try {
      return await values.store(json);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof RunGone) throw error;
      if (tries === 1) deps.onError(error, history.stream);
      if (tries === MAX_STORE_TRIES)
        throw new StepFailure("runner_lost", "The result of the step could not be stored.");
      await sleep(STORE_RETRY_MS, undefined, { signal });
    }
}

type AttemptToRun = Attempt & Pick<StepAttempt, "ensureRecorded" | "worker">;

const describeAttempt = ({ created, organization_id }: History, attempt: AttemptToRun): StepAttempt => ({
  ...attempt,
  organization_id,
  run_id: created.run_id,
  workflow_id: created.workflow_id,
  project_id: created.project_id,
  asked_by: askerOf(created),
  user_mark: created.user_mark ?? null,
  step_id: stepId(created.run_id, attempt.key),
  idempotency_key: idempotencyKey(created.parent?.effects_of ?? created.run_id, attempt.key),
  run_as: created.run_as,
});

async function runStep(
  deps: AttemptDeps,
  { history, values }: OpenRun,
  script: Script,
  step: StepAttempt,
  host: StepHost,
  signal: AbortSignal,
): Promise<StepResult> {
  const { limits } = history.created;
  const { name, args: stored } = history.steps.get(step.key)!;
  const settings = stepSettings(script, name);
  const args = await values.json(stored);
  await checkArgs(deps, step.organization_id, settings, { name, args });
  const { run_id, step_id, attempt, idempotency_key, run_as } = step;
  return deps.runner.step({
    organization_id: step.organization_id,
    rank: rankOf(history.created),
    js: script.js,
    sha256: script.sha256,
    step: name,
    args,
    context: { run_id, step_id, attempt, idempotency_key, run_as },
    host,
    timeout_ms: Math.min(settings.timeout_s, limits.step_timeout_s) * 1_000,
    max_result_bytes: limits.max_result_bytes,
    signal,
  });
}

/**
 * A step that failed while the service lacked what it needs is not to blame: like a lost one it costs no retry, and is run again
 * after a growing delay, unless it may not run twice.
 */
export function blame({ on_lost }: StepSettings, failed: StepFailure, lostBefore: number): StepFailure {
  const { code, message, line, column, logs } = failed;
  if (code !== "step_error" || failed.final || on_lost === "fail" || lostBefore >= MAX_LOST_ATTEMPTS) return failed;
  const retry_after_ms = Math.max(failed.retry_after_ms ?? 0, serviceDelay(lostBefore));
  return new StepFailure("runner_lost", message, { retry_after_ms, line, column, logs });
}

/** The time of the retry after a failure. `lostBefore`: attempts that lost their worker or their runner process. */
function retryFailure(
  settings: StepSettings,
  { attempt, lostBefore, now }: { attempt: number; lostBefore: number; now: number },
  error: StepFailure,
): string | null {
  const isLost = error.code === "runner_lost";
  const lost = isLost ? lostBefore + 1 : lostBefore;
  const mayNotRepeat = isLost && (settings.on_lost === "fail" || lost > MAX_LOST_ATTEMPTS);
  const { retry_after_ms } = error;
  const final = error.final || mayNotRepeat;
  return retryAt(settings, { attempt, lost, now, chance: Math.random(), final, retry_after_ms });
}

/** The lines of an attempt for which the run has room. */
export function keepLogs({ stepLogs }: Pick<History, "stepLogs">, logs: string[]): string[] {
  let left = MAX_STEP_LOGS - stepLogs;
  const kept = logs.filter(({ length }) => (left -= length) >= 0);
  return kept.length < logs.length ? [...kept, "… what was logged after this is not kept"] : logs;
}

/** As one JSON text: it gives the event loop its turn, and limits the marks of all lines together. */
async function redactLogs({ redactJson }: OpenStepHost, history: History, logs: string[]): Promise<string[]> {
  const kept = keepLogs(history, logs);
  return kept.length === 0 ? kept : (JSON.parse(await redactJson(JSON.stringify(kept))) as string[]);
}

/** Runs one attempt at a step. Throws the signal's reason when another process has the attempt. */
export async function runAttempt(
  deps: AttemptDeps,
  run: OpenRun,
  script: Script,
  attemptToRun: AttemptToRun,
  signal: AbortSignal,
): Promise<StepEntry> {
  const { key, attempt } = attemptToRun;
  const { history } = run;
  // Read now: a reload empties the history while it reads the log.
  const settings = stepSettings(script, history.steps.get(key)!.name);
  const lostWorkers = "steps" in history.state ? (findStep(history.state, key)?.lost ?? 0) : 0;
  const lostBefore = lostWorkers + (history.losses.get(key) ?? 0);
  const step = describeAttempt(history, attemptToRun);
  const opened = deps.openHost(step);
  const startedAt = performance.now();
  const measure = () => ({ duration_ms: Math.round(performance.now() - startedAt), secrets: opened.secretNames() });
  try {
    const { json, logs } = await runStep(deps, run, script, step, opened.host, signal);
    const result = await storeResult(deps, run, await opened.redactJson(json), signal);
    return {
      type: "step_completed",
      key,
      attempt,
      result,
      logs: await redactLogs(opened, history, logs),
      ...measure(),
    };
  } catch (error) {
    if (signal.aborted || !(error instanceof StepFailure)) throw error;
    const failed = opened.wasAway() ? blame(settings, error, lostBefore) : error;
    const { code, message, line, column, logs } = failed;
    return {
      type: "step_attempt_failed",
      key,
      attempt,
      code,
      retry_at: retryFailure(settings, { attempt, lostBefore, now: (deps.now ?? currentTime)() }, failed),
      error: { message: await opened.redact(message), line, column },
      logs: await redactLogs(opened, history, logs),
      ...measure(),
    };
  }
}
