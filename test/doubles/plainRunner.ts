import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import {
  StepFailure,
  type ApprovalOptions,
  type PendingCall,
  type MemoEntry,
  type StepContext,
  type StepHost,
  type TickOutcome,
  type WorkflowRunner,
} from "#services/workflows/tick.ts";

/** A workflow whose functions run in the test itself, without a sandbox, so that tests of the coordinator can control it. */
export interface PlainWorkflow {
  run(ctx: PlainContext, args: any): Promise<unknown>;
  steps?: Record<string, (args: any, ctx: StepContext & { host: StepHost; signal: AbortSignal }) => unknown>;
}
export interface PlainContext {
  runStep(name: string, args?: unknown): Promise<any>;
  runStepMany(name: string, items: unknown[], concurrency?: number): Promise<any[]>;
  awaitApproval(name: string, options?: Partial<ApprovalOptions>): Promise<any>;
  sleep(ms: number, key?: string): Promise<void>;
  waitForRun(run_id: string): Promise<any>;
  complete(result: unknown): Promise<never>;
}

class Suspended extends Error {}
const suspended = new Suspended();

/** Every tick asks for the keys of all calls again: hashing them each time took most of the time of a run of 1,000 steps. */
const hashes = new Map<string, string>();
export function plainKey(...parts: unknown[]): string {
  const text = JSON.stringify(parts);
  const known = hashes.get(text);
  if (known) return known;
  const hash = createHash("sha256").update(text).digest("base64url").slice(0, 22);
  hashes.set(text, hash);
  return hash;
}

const TERMS: ApprovalOptions = {
  title: "May it?",
  body: null,
  form: null,
  assignees: [],
  expires_in_ms: null,
  on_expiry: "return",
  self_approval: true,
  api_key_may_decide: true,
};

/** Ticks between two pauses. */
const TICKS_AT_ONCE = 25;
let ticks = 0;

async function tick(workflow: PlainWorkflow, args: string, memo: MemoEntry[]): Promise<TickOutcome> {
  // ticks do no I/O here: without a pause a long run would block the servers in this process
  if (++ticks % TICKS_AT_ONCE === 0) await setImmediate();
  const known = new Map(memo.map(({ key, value }) => [key, value]));
  const pending: PendingCall[] = [];
  let completed: { json: string } | undefined;
  const answer = (key: string, ask: PendingCall): unknown => {
    const value = known.get(key);
    if (!value) pending.push(ask);
    if (!value || "error" in value) throw suspended;
    return JSON.parse(value.json);
  };
  const ctx: PlainContext = {
    runStep: async (name, input = null) => {
      const step = { key: plainKey("step", name, input), name, args: JSON.stringify(input) };
      return answer(step.key, { kind: "steps", steps: [step], concurrency: null, on_error: "fail" });
    },
    runStepMany: async (name, items, concurrency = 10) => {
      const steps = items.map((item) => ({
        key: plainKey("many-item", name, item),
        name,
        args: JSON.stringify(item),
      }));
      const open = steps.filter(({ key }) => !known.has(key));
      if (open.length === 0) return steps.map(({ key }) => JSON.parse((known.get(key) as { json: string }).json));
      pending.push({ kind: "steps", steps: open, concurrency, on_error: "fail" });
      throw suspended;
    },
    awaitApproval: async (name, options = {}) => {
      const key = plainKey("approval", name, options);
      return answer(key, { kind: "approval", key, name, options: { ...TERMS, ...options } });
    },
    sleep: async (ms, label = "") => {
      const key = plainKey("timer", ms, label);
      return void answer(key, { kind: "timer", key, until: { in_ms: ms } });
    },
    waitForRun: async (run_id) => {
      const key = plainKey("run-wait", run_id);
      return answer(key, { kind: "runWait", key, run_id, timeout_ms: null });
    },
    complete: async (result) => {
      completed ??= { json: JSON.stringify(result) };
      throw suspended;
    },
  };
  const rest = { pending, unusedKeys: [], notes: [], warnings: [], logs: [] };
  const returned = await workflow.run(ctx, JSON.parse(args)).then(
    (value) => ({ value }),
    (error: Error) => ({ error }),
  );
  if (completed) return { ...rest, end: { type: "completed", completion: "explicit", ...completed } };
  if ("error" in returned && !(returned.error instanceof Suspended))
    return {
      ...rest,
      end: { type: "failed", code: "run_error", message: returned.error.message, line: null, column: null },
    };
  if (pending.length > 0) return { ...rest, end: { type: "suspended" } };
  const json = JSON.stringify("value" in returned ? (returned.value ?? null) : null);
  return { ...rest, end: { type: "completed", completion: "implicit", json } };
}

/** A host whose calls reject once the step is aborted. The sandbox stops an aborted step at once, so there they never return. */
const untilAborted = (host: StepHost, signal: AbortSignal): StepHost => ({
  ...host,
  async secret(name) {
    const value = await host.secret(name);
    signal.throwIfAborted();
    return value;
  },
});

/** Runs workflows of the test in its own process; `js` is the name of one. */
export const plainRunner = (workflows: Record<string, PlainWorkflow>): WorkflowRunner => ({
  tick: ({ js, args, memo }) => tick(workflows[js]!, args, memo),
  async step({ js, step, args, context, host, signal }) {
    const work = workflows[js]!.steps?.[step];
    if (!work) throw new StepFailure("unknown_step", `There is no step ${step}.`, { final: true });
    try {
      const ctx = { ...context, host: untilAborted(host, signal), signal };
      return { json: JSON.stringify((await work(JSON.parse(args), ctx)) ?? null), logs: [] };
    } catch (error) {
      if (error instanceof StepFailure) throw error;
      throw new StepFailure("step_error", (error as Error).message);
    }
  },
  forget: () => {},
});
