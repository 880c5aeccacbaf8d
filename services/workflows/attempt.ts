import { setTimeout as sleep } from "node:timers/promises";
import { currentTime } from "#events/clock.ts";
import type { StepSettings } from "#events/definition.ts";
import { idempotencyKey, stepId } from "#events/ids.ts";
import { askerOf } from "#events/runOrigin.ts";
import type { StepEntry } from "#events/runParts.ts";
import { findStep } from "../deciders/runState.ts";
import { toServiceFailure, retryFailure, stepSettings } from "./attemptFailure.ts";
import type { OpenStepHost } from "./host/index.ts";
import type { StepAttempt } from "./host/step.ts";
import type { History } from "./history.ts";
import type { SchemaChecker } from "#events/schemaChecker.ts";
import type { OpenRun } from "./openRun.ts";
import type { Script } from "./script.ts";
import { priorityRank } from "./tickCall.ts";
import { StepFailure, type StepHost, type StepResult, type WorkflowRunner } from "./tick.ts";
import { RunGone } from "./values.ts";

export interface AttemptDeps {
  runner: Pick<WorkflowRunner, "step">;
  openHost(step: StepAttempt): OpenStepHost;
  /** The clock for comparing and recording times of the log. */
  now?(): number;
  onError(error: unknown, stream: string): void;
  /** Checks arguments against the input schema of a step. */
  schemas: SchemaChecker;
}

/** UTF-16 units of all log lines of a run's steps: every process that opens the run reads all of them. */
const MAX_STEP_LOGS = 16 * 1024 * 1024;
/** Attempts to store a result, 500 ms apart: 30 s in total. */
const MAX_STORE_TRIES = 60;
const STORE_RETRY_MS = 500;

export interface Attempt {
  key: string;
  attempt: number;
  epoch: number;
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

/** Stores a result, and waits while the store is unavailable: another attempt would repeat the step's effects. */
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
    rank: priorityRank(history.created),
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

/** The lines of an attempt that fit into the run's limit. */
export function keepLogs({ stepLogs }: Pick<History, "stepLogs">, logs: string[]): string[] {
  let left = MAX_STEP_LOGS - stepLogs;
  const kept = logs.filter(({ length }) => (left -= length) >= 0);
  return kept.length < logs.length ? [...kept, "… what was logged after this is not kept"] : logs;
}

/** Redacts all lines as one JSON text, which lets other work run in between and limits the marks of all lines together. */
async function redactLogs({ redactJson }: OpenStepHost, history: History, logs: string[]): Promise<string[]> {
  const kept = keepLogs(history, logs);
  return kept.length === 0 ? kept : (JSON.parse(await redactJson(JSON.stringify(kept))) as string[]);
}

/** Runs one attempt at a step. Throws the signal's reason if another process has taken the attempt. */
export async function runAttempt(
  deps: AttemptDeps,
  run: OpenRun,
  script: Script,
  attemptToRun: AttemptToRun,
  signal: AbortSignal,
): Promise<StepEntry> {
  const { key, attempt } = attemptToRun;
  const { history } = run;
  // Read before anything is awaited: a reload empties the history while it reads the log.
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
    const failed = opened.wasUnavailable() ? toServiceFailure(settings, error, lostBefore) : error;
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
