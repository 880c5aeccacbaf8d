import { describe, expect, test } from "vitest";
import { approvalId } from "#events/ids.ts";
import { RunCreated, RunStarted, StepCompleted, StepFailed, StepStarted, StepsScheduled } from "#events/run.ts";
import type { NewEvent } from "#events/define.ts";
import { Limits } from "#events/workflow.ts";
import { begin, fold, startable, type History } from "./history.ts";
import { differences, planned } from "./plan.ts";
import type { Asked, TickOutcome } from "./tick.ts";

const NOW = Date.parse("2026-01-01T00:00:00.000Z");
const run_id = "0198c0de-0000-7000-8000-00000000000a";
const key = (name: string) => name.padEnd(22, "_");
const created = RunCreated.of(
  {
    run_id,
    workflow_id: "w1",
    definition_id: "d1",
    definition_version: 1,
    project_id: null,
    trigger_id: null,
    started_by: { type: "person", id: "u1" },
    run_as: { type: "service", id: null },
    limits: Limits.parse({ max_parallel: 4 }),
    expires_at: "2026-02-01T00:00:00.000Z",
    retention_days: 1,
    approvals: { default_expiry_s: 60, allow_api_key: false },
    slot: null,
    created_at: new Date(NOW).toISOString(),
    worker: "p1",
  },
  { args: { json: "{}" }, external_user_id: null },
);

const JSON_OF = (value: object) => ("json" in value ? (value.json as string) : "");
function historyOf(...events: NewEvent[]): History {
  const history = begin({ organization_id: "o1", stream: `run-${run_id}` }, created, "{}");
  for (const event of [created, RunStarted.of({ run_id }), ...events]) fold(history, event, JSON_OF);
  return history;
}
const scheduled = (names: string[], { name = "pay", concurrency = null as number | null } = {}) =>
  StepsScheduled.of(
    {
      run_id,
      concurrency,
      on_error: "fail",
      steps: names.map((each, n) => ({
        key: key(each),
        name,
        batch: concurrency === null ? null : key(names[0]!),
        index: n,
      })),
    },
    { args: names.map((each) => ({ json: JSON.stringify({ each }) })) },
  );
const begun = (each: string) => StepStarted.of({ run_id, key: key(each), name: "pay", attempt: 1, worker: "p1" });
const done = (each: string) =>
  StepCompleted.of(
    { run_id, key: key(each), name: "pay", attempt: 1, duration_ms: 1, secrets: [] },
    { result: { json: `"${each}"` }, logs: [] },
  );
const steps = (names: string[], concurrency: number | null = null): Asked => ({
  kind: "steps",
  concurrency,
  on_error: "fail",
  steps: names.map((each) => ({ key: key(each), name: "pay", args: JSON.stringify({ each }) })),
});
const outcome = (more: Partial<TickOutcome> = {}): TickOutcome => ({
  end: { type: "suspended" },
  asked: [],
  unasked: [],
  notes: [],
  warnings: [],
  logs: [],
  ...more,
});
const plan = (history: History, what: TickOutcome) =>
  planned(history, what, { now: NOW, keep: async (json) => ({ json }) });
const keysOf = (result: Awaited<ReturnType<typeof plan>>) =>
  result.schedule.map((batch) => batch.steps.map((s) => s.key));

describe("what a tick asks for", () => {
  test("is scheduled once, however often it is asked, and not again when it is known", async () => {
    const first = await plan(historyOf(), outcome({ asked: [steps(["a"]), steps(["a", "b"])] }));
    expect(keysOf(first)).toEqual([[key("a")], [key("b")]]);
    expect(first.start).toEqual([key("a"), key("b")]);
    const again = await plan(historyOf(scheduled(["a"]), begun("a")), outcome({ asked: [steps(["a", "b"])] }));
    expect(keysOf(again)).toEqual([[key("b")]]);
  });
  test("begins within what a batch and the run have at once", async () => {
    const names = ["a", "b", "c", "d", "e", "f"];
    const batch = await plan(historyOf(), outcome({ asked: [steps(names, 2), steps(["x", "y", "z"])] }));
    expect(batch.schedule[0]!.steps.map(({ batch, index }) => [batch, index])).toEqual(
      names.map((_, n) => [key("a"), n]),
    );
    expect(batch.start).toEqual(["a", "b", "x", "y"].map(key));
    const history = historyOf(scheduled(names, { concurrency: 2 }), begun("a"), begun("b"));
    expect(startable(history)).toEqual([]);
    fold(history, done("a"), JSON_OF);
    expect(startable(history)).toEqual([key("c")]);
  });
  test("a run that ends asks for nothing", async () => {
    const end = { type: "completed" as const, completion: "explicit" as const, json: "1" };
    const result = await plan(historyOf(), outcome({ end, asked: [steps(["a"])] }));
    expect(result).toMatchObject({ schedule: [], start: [], end: { type: "completed", result: { json: "1" } } });
  });
  test("timers and approvals are set once; an approval that is asked no longer is superseded", async () => {
    const options = {
      title: "Pay?",
      body: null,
      form: null,
      assignees: [],
      expires_in_ms: null,
      on_expiry: "return" as const,
      self_approval: true,
      api_key_may_decide: true,
    };
    const asked: Asked[] = [
      { kind: "timer", key: key("t"), until: { in_ms: 1_000 } },
      { kind: "timer", key: key("u"), until: { at: "2026-01-03T00:00:00+01:00" } },
      { kind: "approval", key: key("v"), name: "boss", options },
    ];
    const first = await plan(historyOf(), outcome({ asked }));
    expect(first.timers).toEqual([
      { key: key("t"), fires_at: "2026-01-01T00:00:01.000Z" },
      { key: key("u"), fires_at: "2026-01-02T23:00:00.000Z" },
    ]);
    // the envelope does not let an API key decide, and what it says of expiry holds
    expect(first.approvals).toEqual([
      expect.objectContaining({ key: key("v"), allow_api_key: false, expires_at: "2026-01-01T00:01:00.000Z" }),
    ]);
    const history = historyOf();
    const id = approvalId(run_id, key("v"));
    history.state = {
      ...history.state,
      approvals: { [id]: { key: key("v"), expires_at: "", on_expiry: "return" } },
    } as never;
    expect((await plan(history, outcome({ asked }))).approvals).toEqual([]);
    expect((await plan(history, outcome({ asked: asked.slice(0, 2) }))).superseded).toEqual([id]);
  });
});

describe("other arguments than before", () => {
  const history = () => historyOf(scheduled(["a"]), begun("a"), done("a"));
  test("are told, with where they differ, once", async () => {
    const changed = outcome({ asked: [steps(["b"])], unasked: [key("a")] });
    const { warnings } = await plan(history(), changed);
    expect(warnings).toEqual([
      { code: "step_args_changed", call: "pay", line: null, message: expect.stringContaining("/each") },
    ]);
    const warned = history();
    warned.warned.add(["step_args_changed", "pay", null].join("\n"));
    expect((await plan(warned, changed)).warnings).toEqual([]);
    expect((await plan(history(), outcome({ asked: [steps(["b"])] }))).warnings).toEqual([]);
  });
  test("on every tick are a circle, and end the run", async () => {
    const names = Array.from({ length: 25 }, (_, n) => `s${n}`);
    const round = historyOf(scheduled(names), ...names.flatMap((each) => [begun(each), done(each)]));
    const result = await plan(round, outcome({ asked: [steps(["b"])], unasked: names.map(key) }));
    expect(result.end).toMatchObject({ type: "failed", code: "memo_thrash", step: "pay" });
  });
  test("differ where they differ", () => {
    expect(differences({ a: 1, b: { c: [1, 2] } }, { a: 1, b: { c: [2, 2] }, "d/e": 1 })).toEqual(["/b/c/0", "/d~1e"]);
    expect(differences(1, 2)).toEqual(["/"]);
    expect(differences({ a: 1 }, { a: 1 })).toEqual([]);
  });
});

describe("what run() is told of", () => {
  test("one step's end is news; of a batch, the last one's is", () => {
    const batch = historyOf(scheduled(["a", "b"], { concurrency: 2 }), begun("a"), begun("b"));
    batch.stale = false;
    fold(batch, done("a"), JSON_OF);
    expect(batch.stale).toBe(false);
    fold(batch, done("b"), JSON_OF);
    expect(batch.stale).toBe(true);
    expect(batch.memo).toEqual([
      { key: key("a"), value: { json: '"a"' } },
      { key: key("b"), value: { json: '"b"' } },
    ]);
  });
  test("a failure is told as what it was", () => {
    const failed = StepFailed.of(
      { run_id, key: key("a"), name: "pay", attempt: 1, duration_ms: 1, secrets: [], code: "step_error" },
      { error: { message: "no", line: null }, logs: [] },
    );
    const { memo } = historyOf(scheduled(["a"]), begun("a"), failed);
    expect(memo).toEqual([{ key: key("a"), value: { error: { code: "step_error", message: "no" } } }]);
  });
});
