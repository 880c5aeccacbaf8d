import { beforeEach, describe, expect, test } from "vitest";
import type { MemoEntry, StepCall, StepContext, StepResult, TickCall, TickOutcome } from "#services/workflows/tick.ts";
import { createAheads } from "./aheads.ts";
import { stepOrder, type Early } from "./messages.ts";

const context: StepContext = {
  run_id: "r1",
  step_id: "s1",
  attempt: 1,
  idempotency_key: "i1",
  run_as: { type: "service", id: null },
};
const asking = (n: number) => ({ sha256: "x", step: "work", args: `{"n":${n}}`, max_result_bytes: 1_000 });
const stepCall = (n: number, more: Partial<StepCall> = {}): StepCall => ({
  ...asking(n),
  organization_id: "o1",
  js: "",
  context,
  host: { fetch: () => Promise.reject(), secret: () => Promise.reject(), call: () => Promise.reject() },
  timeout_ms: 1_000,
  signal: new AbortController().signal,
  ...more,
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
const resultOf = (n: number): StepResult => ({ json: `"came to ${n}"`, logs: [] });
const early = (n: number, more: Partial<TickOutcome> = {}): Early => ({
  outcome: outcome({ logs: [`before ${n}`], ...more }),
  key: `k${n}`,
  order: stepOrder(context, asking(n)),
  result: resultOf(n),
});
const came = (n: number): MemoEntry => ({ key: `k${n}`, value: { json: resultOf(n).json } });
const last = outcome({
  end: { type: "completed", completion: "explicit", json: "1" },
  logs: ["before 1", "before 2", "end"],
});

let memo: MemoEntry[];
let aheads: ReturnType<typeof createAheads>;
beforeEach(() => {
  memo = [];
  aheads = createAheads();
});
const tickCall = (more: Partial<TickCall> = {}): TickCall => ({
  organization_id: "o1",
  run_id: "r1",
  js: "",
  sha256: "x",
  args: "{}",
  created_at: 0,
  now: 0,
  memo,
  ...more,
});
const put = (...all: Early[]) => aheads.put("r1", { memo, length: memo.length }, { early: all, outcome: last });
/** Nothing is told any more, whatever is asked. */
function expectNothing(): void {
  expect(aheads.step(stepCall(1))).toBeUndefined();
  expect(aheads.step(stepCall(2))).toBeUndefined();
  expect(aheads.tick(tickCall())).toBeUndefined();
}

test("a tick that ran nothing ahead is what it is", () => {
  expect(put()).toBe(last);
  expectNothing();
});

test("what was run ahead is told one after the other, as it is asked for", () => {
  expect(put(early(1), early(2))).toMatchObject({ end: { type: "suspended" }, logs: ["before 1"] });
  expect(aheads.step(stepCall(1))).toEqual(resultOf(1));
  memo.push(came(1));
  // all that run() has logged, from the beginning
  expect(aheads.tick(tickCall())).toMatchObject({ end: { type: "suspended" }, logs: ["before 1", "before 2"] });
  expect(aheads.step(stepCall(2))).toEqual(resultOf(2));
  memo.push(came(2));
  expect(aheads.tick(tickCall())).toBe(last);
  expectNothing();
});

test("values that were fixed on the way are foreseen, in whatever order they came", () => {
  put(early(1, { notes: [{ key: "now", json: "5" }] }), early(2));
  aheads.step(stepCall(1));
  memo.push({ key: "now", value: { json: "5" } }, came(1));
  expect(aheads.tick(tickCall())).toMatchObject({ logs: ["before 1", "before 2"] });
});

describe("nothing is told any more once", () => {
  const told = (call: TickCall): void => {
    put(early(1), early(2));
    expect(aheads.step(stepCall(1))).toEqual(resultOf(1));
    expect(aheads.tick(call)).toBeUndefined();
    expectNothing();
  };
  test("the step came to something else", () => {
    memo.push({ key: "k0", value: { json: "0" } });
    const call = tickCall();
    put(early(1), early(2));
    aheads.step(stepCall(1));
    memo.push({ key: "k1", value: { json: '"other"' } });
    expect(aheads.tick(call)).toBeUndefined();
    expectNothing();
  });
  test("it failed", () => {
    put(early(1), early(2));
    aheads.step(stepCall(1));
    memo.push({ key: "k1", value: { error: { message: "no", code: "step_error" } } });
    expect(aheads.tick(tickCall())).toBeUndefined();
    expectNothing();
  });
  test.each([
    ["something else came first", [{ key: "approval", value: { json: "1" } }, came(1)]],
    ["something else came after it", [came(1), { key: "approval", value: { json: "1" } }]],
    ["something else came instead", [{ key: "approval", value: { json: "1" } }]],
    ["a value was fixed at another time", [{ key: "now", value: { json: "6" } }, came(1)]],
  ])("%s", (_, more) => {
    put(early(1, { notes: [{ key: "now", json: "5" }] }), early(2));
    aheads.step(stepCall(1));
    memo.push(...more);
    expect(aheads.tick(tickCall())).toBeUndefined();
    expectNothing();
  });
  test("the history is another one, though it says the same", () => told(tickCall({ memo: [came(1)] })));
  test("a tick is asked for before the step", () => {
    put(early(1));
    memo.push(came(1));
    expect(aheads.tick(tickCall())).toBeUndefined();
    expectNothing();
  });
  test("a step is asked for twice", () => {
    put(early(1), early(2));
    aheads.step(stepCall(1));
    expect(aheads.step(stepCall(1))).toBeUndefined();
    memo.push(came(1));
    expectNothing();
  });
  test.each<[string, Partial<StepCall>]>([
    ["other arguments", { args: '{"n":2}' }],
    ["the same arguments in other words", { args: '{ "n": 1 }' }],
    ["another step", { step: "other" }],
    ["another script", { sha256: "y" }],
    ["another attempt", { context: { ...context, attempt: 2 } }],
    ["another person", { context: { ...context, run_as: { type: "person", id: "p1" } } }],
    ["less room", { max_result_bytes: 999 }],
  ])("a step is asked for with %s", (_, more) => {
    put(early(1), early(2));
    expect(aheads.step(stepCall(1, more))).toBeUndefined();
    expectNothing();
  });
  test("the run is forgotten", () => {
    put(early(1));
    aheads.forget("r1");
    expectNothing();
  });
  test("another tick of the run came to nothing ahead", () => {
    put(early(1));
    put();
    expectNothing();
  });
});

test("a run is told nothing of another's", () => {
  put(early(1));
  expect(aheads.step(stepCall(1, { context: { ...context, run_id: "r2" } }))).toBeUndefined();
  expect(aheads.tick(tickCall({ run_id: "r2" }))).toBeUndefined();
  expect(aheads.step(stepCall(1))).toEqual(resultOf(1));
});

test("of more than 500 runs the oldest is forgotten, and is asked for as if it had never been run", () => {
  put(early(1));
  for (let n = 0; n < 500; n++) aheads.put(`other ${n}`, { memo, length: 0 }, { early: [early(1)], outcome: last });
  expect(aheads.step(stepCall(1))).toBeUndefined();
  const newest = stepCall(1, { context: { ...context, run_id: "other 0" } });
  // its order names another run
  expect(aheads.step(newest)).toBeUndefined();
});
