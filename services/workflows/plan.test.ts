import { describe, expect, test } from "vitest";
import { approvalId } from "#events/ids.ts";
import { RunStarted, StepCompleted, StepFailed, StepStarted, StepsScheduled } from "#events/run.ts";
import type { NewEvent } from "#events/define.ts";
import { RunLimits } from "#events/workflow.ts";
import { runCreated, tickOutcome } from "#test/samples.ts";
import { findDifferences } from "./findDifferences.ts";
import { emptyHistory, foldEvent, type History } from "./history.ts";
import { startableSteps } from "./startableSteps.ts";
import { planTick } from "./plan.ts";
import type { PendingCall, TickOutcome } from "./tick.ts";

const NOW = Date.parse("2026-01-01T00:00:00.000Z");
const run_id = "0198c0de-0000-7000-8000-00000000000a";
const key = (name: string) => name.padEnd(22, "_");
const created = runCreated({
  run_id,
  started_by: { type: "person", id: "u1" },
  limits: RunLimits.parse({ max_parallel: 4 }),
  expires_at: "2026-02-01T00:00:00.000Z",
  approvals: { default_expiry_s: 60, allow_api_key: false },
  created_at: new Date(NOW).toISOString(),
  worker: "p1",
});

const readInline = (value: object) => ("json" in value ? (value.json as string) : "");
function openHistory(...events: NewEvent[]): History {
  const history = emptyHistory({ organization_id: "o1", stream: `run-${run_id}` }, created, "{}");
  for (const event of [created, RunStarted.of({ run_id }), ...events]) foldEvent(history, event, readInline);
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
const steps = (names: string[], concurrency: number | null = null): PendingCall => ({
  kind: "steps",
  concurrency,
  on_error: "fail",
  steps: names.map((each) => ({ key: key(each), name: "pay", args: JSON.stringify({ each }) })),
});
const plan = (history: History, what: TickOutcome) =>
  planTick(history, what, { now: NOW, store: async (json) => ({ json }) });
const keysOf = (result: Awaited<ReturnType<typeof plan>>) =>
  result.schedule.map((batch) => batch.steps.map((s) => s.key));

describe("A tick", () => {
  test("schedules a step once, however often run() calls it", async () => {
    const first = await plan(openHistory(), tickOutcome({ pending: [steps(["a"]), steps(["a", "b"])] }));
    expect(keysOf(first)).toEqual([[key("a")], [key("b")]]);
    expect(first.start).toEqual([key("a"), key("b")]);
    const again = await plan(openHistory(scheduled(["a"]), begun("a")), tickOutcome({ pending: [steps(["a", "b"])] }));
    expect(keysOf(again)).toEqual([[key("b")]]);
  });
  test("starts steps within the limits of the batch and of the run", async () => {
    const names = ["a", "b", "c", "d", "e", "f"];
    const batch = await plan(openHistory(), tickOutcome({ pending: [steps(names, 2), steps(["x", "y", "z"])] }));
    expect(batch.schedule[0]!.steps.map(({ batch, index }) => [batch, index])).toEqual(
      names.map((_, n) => [key("a"), n]),
    );
    expect(batch.start).toEqual(["a", "b", "x", "y"].map(key));
    const history = openHistory(scheduled(names, { concurrency: 2 }), begun("a"), begun("b"));
    expect(startableSteps(history)).toEqual([]);
    foldEvent(history, done("a"), readInline);
    expect(startableSteps(history)).toEqual([key("c")]);
  });
  test("that ends the run schedules nothing", async () => {
    const end = { type: "completed" as const, completion: "explicit" as const, json: "1" };
    const result = await plan(openHistory(), tickOutcome({ end, pending: [steps(["a"])] }));
    expect(result).toMatchObject({ schedule: [], start: [], end: { type: "completed", result: { json: "1" } } });
  });
  test("sets timers and approvals once, and supersedes an approval that run() no longer requests", async () => {
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
    const pending: PendingCall[] = [
      { kind: "timer", key: key("t"), until: { in_ms: 1_000 } },
      { kind: "timer", key: key("u"), until: { at: "2026-01-03T00:00:00+01:00" } },
      { kind: "approval", key: key("v"), name: "boss", options },
    ];
    const first = await plan(openHistory(), tickOutcome({ pending }));
    expect(first.timers).toEqual([
      { key: key("t"), fires_at: "2026-01-01T00:00:01.000Z" },
      { key: key("u"), fires_at: "2026-01-02T23:00:00.000Z" },
    ]);
    // the envelope forbids API keys and sets the default expiry
    expect(first.approvals).toEqual([
      expect.objectContaining({ key: key("v"), allow_api_key: false, expires_at: "2026-01-01T00:01:00.000Z" }),
    ]);
    const history = openHistory();
    const id = approvalId(run_id, key("v"));
    history.state = {
      ...history.state,
      approvals: { [id]: { key: key("v"), expires_at: "", on_expiry: "return" } },
    } as never;
    expect((await plan(history, tickOutcome({ pending }))).approvals).toEqual([]);
    expect((await plan(history, tickOutcome({ pending: pending.slice(0, 2) }))).superseded).toEqual([id]);
  });
});

describe("Changed arguments of a step", () => {
  const history = () => openHistory(scheduled(["a"]), begun("a"), done("a"));
  test("cause one warning with the place of the difference", async () => {
    const changed = tickOutcome({ pending: [steps(["b"])], unusedKeys: [key("a")] });
    const { warnings } = await plan(history(), changed);
    expect(warnings).toEqual([
      { code: "step_args_changed", call: "pay", line: null, message: expect.stringContaining("/each") },
    ]);
    const warned = history();
    warned.warned.add(["step_args_changed", "pay", null].join("\n"));
    expect((await plan(warned, changed)).warnings).toEqual([]);
    expect((await plan(history(), tickOutcome({ pending: [steps(["b"])] }))).warnings).toEqual([]);
  });
  test("are shown by the beginning of their path", async () => {
    const pending = [
      { ...steps(["b"]), steps: [{ key: key("b"), name: "pay", args: `{"${"x".repeat(100_000)}":1}` }] },
    ];
    const { warnings } = await plan(history(), tickOutcome({ pending, unusedKeys: [key("a")] }));
    expect(warnings[0]!.message.length).toBeLessThan(1_000);
  });
  test("of many steps are compared with pauses", async () => {
    const names = Array.from({ length: 30 }, (_, n) => `n${n}`);
    const fields = (more: number) =>
      JSON.stringify(Object.fromEntries(Array.from({ length: 5_000 + more }, (_, n) => [`f${n}`, n])));
    const round = openHistory(...names.map((name) => scheduled([name], { name })));
    for (const name of names) round.steps.get(key(name))!.args = { json: fields(0) };
    const pending = names.map((name) => ({
      ...steps([name]),
      steps: [{ key: key(`${name}b`), name, args: fields(1) }],
    }));
    let [turns, isOver] = [0, false];
    const count = () => void (isOver || (turns++, setImmediate(count)));
    setImmediate(count);
    const outcome = tickOutcome({ pending, unusedKeys: names.map(key) });
    const { warnings } = await plan(round, outcome);
    isOver = true;
    expect(warnings).toHaveLength(30);
    expect(turns).toBeGreaterThan(2);
  });
  test("fail the run when they change on every tick", async () => {
    const names = Array.from({ length: 25 }, (_, n) => `s${n}`);
    const round = openHistory(scheduled(names), ...names.flatMap((each) => [begun(each), done(each)]));
    const result = await plan(round, tickOutcome({ pending: [steps(["b"])], unusedKeys: names.map(key) }));
    expect(result.end).toMatchObject({ type: "failed", code: "memo_thrash", step: "pay" });
  });
  test("are compared as JSON pointers", () => {
    expect(findDifferences({ a: 1, b: { c: [1, 2] } }, { a: 1, b: { c: [2, 2] }, "d/e": 1 })).toEqual([
      "/b/c/0",
      "/d~1e",
    ]);
    expect(findDifferences(1, 2)).toEqual(["/"]);
    expect(findDifferences({ a: 1 }, { a: 1 })).toEqual([]);
  });
});

describe("run()", () => {
  test("continues after a single step, and after the last step of a batch", () => {
    const batch = openHistory(scheduled(["a", "b"], { concurrency: 2 }), begun("a"), begun("b"));
    batch.needsTick = false;
    foldEvent(batch, done("a"), readInline);
    expect(batch.needsTick).toBe(false);
    foldEvent(batch, done("b"), readInline);
    expect(batch.needsTick).toBe(true);
    expect(batch.memo).toEqual([
      { key: key("a"), value: { json: '"a"' } },
      { key: key("b"), value: { json: '"b"' } },
    ]);
  });
  test("receives the code and the message of a failed step", () => {
    const failed = StepFailed.of(
      { run_id, key: key("a"), name: "pay", attempt: 1, duration_ms: 1, secrets: [], code: "step_error" },
      { error: { message: "no", line: null }, logs: [] },
    );
    const { memo } = openHistory(scheduled(["a"]), begun("a"), failed);
    expect(memo).toEqual([{ key: key("a"), value: { error: { code: "step_error", message: "no" } } }]);
  });
});
