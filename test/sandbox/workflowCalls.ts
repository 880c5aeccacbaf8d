import { createHash, randomUUID } from "node:crypto";
import type {
  PendingCall,
  MemoEntry,
  StepCall,
  TickCall,
  TickOutcome,
  WorkflowRunner,
} from "#services/workflows/tick.ts";

export const CREATED_AT = Date.UTC(2030, 0, 2, 3, 4, 5);
export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

const STEPS = "export const steps = { a: () => 1, b: () => 1, c: () => 1 };\n";
/** A module with steps a, b and c, whose run() has this body from line 3 on. */
export const moduleWithRun = (body: string): string => `${STEPS}export async function run(ctx, args) {\n${body}\n}`;

export function tickCallFor(js: string, more: Partial<TickCall> = {}): TickCall {
  return {
    organization_id: "o1",
    run_id: randomUUID(),
    js,
    sha256: sha256(js),
    args: "{}",
    created_at: CREATED_AT,
    now: CREATED_AT + 60_000,
    memo: [],
    ...more,
  };
}

/** The keys of a pending call. */
export const keysOf = (call: PendingCall): string[] =>
  call.kind === "steps" ? call.steps.map(({ key }) => key) : [call.key];

/** The result of each call; throws StepRejection for a failure. */
export type Answers = (call: { kind: string; name: string; args: unknown }) => unknown;
export class StepRejection extends Error {}

/** Memo entries with the results of pending calls. */
export function answersTo(calls: PendingCall[], answers: Answers): MemoEntry[] {
  const entry = (key: string, kind: string, name: string, args: unknown): MemoEntry => {
    try {
      return { key, value: { json: JSON.stringify(answers({ kind, name, args }) ?? null) } };
    } catch (error) {
      if (!(error instanceof StepRejection)) throw error;
      return { key, value: { error: { message: error.message, code: "step_error" } } };
    }
  };
  return calls.flatMap((one) => {
    if (one.kind === "steps") return one.steps.map(({ key, name, args }) => entry(key, "step", name, JSON.parse(args)));
    if (one.kind === "approval") return [entry(one.key, "approval", one.name, one.options)];
    return [{ key: one.key, value: { json: "null" } }];
  });
}

/** Ticks a run to its end, and answers its calls after each tick. Returns the outcomes of all ticks. */
export async function runThrough(
  runner: Pick<WorkflowRunner, "tick">,
  call: TickCall,
  answers: Answers = ({ args }) => args,
  maxTicks = 20,
): Promise<TickOutcome[]> {
  const memo: MemoEntry[] = [];
  const outcomes: TickOutcome[] = [];
  while (outcomes.length < maxTicks) {
    const outcome = await runner.tick({ ...call, memo, now: call.now + outcomes.length * 1_000 });
    outcomes.push(outcome);
    memo.push(...outcome.notes.map(({ key, json }) => ({ key, value: { json } })));
    if (outcome.end.type !== "suspended") break;
    const known = new Set(memo.map(({ key }) => key));
    memo.push(...answersTo(outcome.pending, answers).filter(({ key }) => !known.has(key)));
  }
  return outcomes;
}

export const HOST: StepCall["host"] = {
  fetch: async ({ url, method, headers, body }) => ({
    status: 200,
    headers: [["content-type", "application/json"]],
    body: JSON.stringify({ url, method, headers, body }),
  }),
  secret: (name) => Promise.resolve(`secret of ${name}`),
  call: async (what, input, nth) => ({ what, input, nth }),
};

export function stepCallFor(body: string, more: Partial<StepCall> = {}): StepCall {
  return stepCallIn(
    `export const steps = { work: async (args, ctx) => {\n${body}\n} };\nexport function run() {}`,
    more,
  );
}

export function stepCallIn(js: string, more: Partial<StepCall> = {}): StepCall {
  return {
    organization_id: "o1",
    js,
    sha256: sha256(js),
    step: "work",
    args: "{}",
    context: {
      run_id: "5f0c0a2e-0000-4000-8000-000000000001",
      step_id: "5f0c0a2e-0000-4000-8000-000000000002",
      attempt: 1,
      idempotency_key: "key-1",
      run_as: { type: "service", id: null },
    },
    host: HOST,
    timeout_ms: 20_000,
    max_result_bytes: 1_048_576,
    signal: new AbortController().signal,
    ...more,
  };
}
