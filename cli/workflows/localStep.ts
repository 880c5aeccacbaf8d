import { setTimeout as sleep } from "node:timers/promises";
import { StepSettings } from "#events/definition.ts";
import { idempotencyKey, stepId } from "#events/ids.ts";
import { retryAt } from "#services/workflows/attemptFailure.ts";
import { StepFailure, type PendingStep, type StepHost } from "#services/workflows/tick.ts";
import { LOCAL_ORGANIZATION, type LocalSandbox, type LocalScript } from "./loadScript.ts";

/** Maximum milliseconds an attempt may wait for fetches in total. */
const FETCH_MS = 60_000;

interface HostOptions {
  /** Whether `ctx.fetch` uses the network. */
  isLive: boolean;
  secrets: Record<string, string>;
}

async function fetchLive({ url, method, headers, body }: Parameters<StepHost["fetch"]>[0], signal: AbortSignal) {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(FETCH_MS)]);
  const answer = await fetch(url, { method, headers, body, signal: limited, redirect: "manual" });
  return { status: answer.status, headers: [...answer.headers] as [string, string][], body: await answer.text() };
}

/** The platform for steps of a local run. It has no models, agents, knowledge or tools, which belong to the service. */
export const localHost = ({ isLive, secrets }: HostOptions): StepHost => ({
  async fetch(request, signal) {
    if (isLive) return fetchLive(request, signal);
    const message = `ctx.fetch(${request.url}) is not made here: give the step a result instead of executing it`;
    throw new StepFailure("egress_not_allowed", message, { final: true });
  },
  async secret(name) {
    if (Object.hasOwn(secrets, name)) return secrets[name]!;
    const message = `There is no value for the secret ${name}: add it to "secrets" of the answers`;
    throw new StepFailure("secret_not_connected", message, { final: true });
  },
  async call(what) {
    const message = `A local run has no ${what}: give the step a result instead of executing it`;
    throw new StepFailure("step_error", message, { final: true });
  },
});

export interface ExecuteOptions {
  sandbox: Pick<LocalSandbox, "runner" | "schemas">;
  script: LocalScript;
  host: StepHost;
  run_id: string;
  /** Whether there is a real pause before retries. */
  isLive: boolean;
  onAttempt(attempt: number, failure: StepFailure | undefined, logs: string[]): void;
}

/** Throws StepFailure if the arguments do not match the step's input schema. */
async function checkInput({ sandbox }: ExecuteOptions, { input }: StepSettings, { name, args }: PendingStep) {
  const wrong = input && (await sandbox.schemas.check(LOCAL_ORGANIZATION, input, JSON.parse(args)));
  if (!wrong) return;
  const message = `The arguments of the step ${name}: ${wrong.pointer || "/"}: ${wrong.message}`;
  throw new StepFailure("invalid_step_args", message, { final: true });
}

async function attemptStep(options: ExecuteOptions, settings: StepSettings, step: PendingStep, attempt: number) {
  const { sandbox, script, host, run_id } = options;
  await checkInput(options, settings, step);
  const { signal } = new AbortController();
  const context = {
    run_id,
    step_id: stepId(run_id, step.key),
    attempt,
    idempotency_key: idempotencyKey(run_id, step.key),
    run_as: { type: "service" as const, id: null },
  };
  return sandbox.runner.step({
    organization_id: LOCAL_ORGANIZATION,
    js: script.js,
    sha256: script.sha256,
    step: step.name,
    args: step.args,
    context,
    host,
    timeout_ms: settings.timeout_s * 1_000,
    max_result_bytes: 1024 * 1024,
    signal,
  });
}

/** Executes a step with its retries. Returns JSON of its result. Throws StepFailure. */
export async function executeStep(options: ExecuteOptions, step: PendingStep): Promise<string> {
  const settings = options.script.steps[step.name] ?? StepSettings.parse({});
  for (let attempt = 1; ; attempt++)
    try {
      const { json, logs } = await attemptStep(options, settings, step, attempt);
      options.onAttempt(attempt, undefined, logs);
      return json;
    } catch (error) {
      if (!(error instanceof StepFailure)) throw error;
      options.onAttempt(attempt, error, error.logs);
      const { final, retry_after_ms } = error;
      const failed = { attempt, lost: 0, now: Date.now(), chance: 0.5, final, retry_after_ms };
      const next = retryAt(settings, failed);
      if (next === null) throw error;
      if (options.isLive) await sleep(Math.max(0, Date.parse(next) - Date.now()));
    }
}
