import { beforeEach, describe, expect, test } from "vitest";
import type { MemoEntry, StepCall, StepContext, StepResult, TickCall, TickOutcome } from "#services/workflows/tick.ts";
import { tickCall, tickOutcome } from "#test/samples.ts";
import { createSpeculation } from "./speculation.ts";
import { newStepOrder, type SpeculatedStep } from "./messages.ts";

const context: StepContext = {
  run_id: "r1",
  step_id: "s1",
  attempt: 1,
  idempotency_key: "i1",
  run_as: { type: "service", id: null },
};
const stepWith = (n: number) => ({ sha256: "x", step: "work", args: `{"n":${n}}`, max_result_bytes: 1_000 });
const stepCall = (n: number, more: Partial<StepCall> = {}): StepCall => ({
  ...stepWith(n),
  organization_id: "o1",
  js: "",
  context,
  host: { fetch: () => Promise.reject(), secret: () => Promise.reject(), call: () => Promise.reject() },
  timeout_ms: 1_000,
  signal: new AbortController().signal,
  ...more,
});
const resultOf = (n: number): StepResult => ({ json: `"result ${n}"`, logs: [] });
const speculated = (n: number, more: Partial<TickOutcome> = {}): SpeculatedStep => ({
  outcome: tickOutcome({ logs: [`before ${n}`], ...more }),
  key: `k${n}`,
  order: newStepOrder(context, stepWith(n)),
  result: resultOf(n),
});
const entry = (n: number): MemoEntry => ({ key: `k${n}`, value: { json: resultOf(n).json } });
const last = tickOutcome({
  end: { type: "completed", completion: "explicit", json: "1" },
  logs: ["before 1", "before 2", "end"],
});

let memo: MemoEntry[];
let speculation: ReturnType<typeof createSpeculation>;
beforeEach(() => {
  memo = [];
  speculation = createSpeculation();
});
const tickWith = (more: Partial<TickCall> = {}) => tickCall({ memo, ...more });
const put = (...all: SpeculatedStep[]) =>
  speculation.put("r1", { memo, length: memo.length }, { speculated: all, outcome: last });
/** Expects no speculated result for any step or tick. */
function expectNothing(): void {
  expect(speculation.step(stepCall(1))).toBeUndefined();
  expect(speculation.step(stepCall(2))).toBeUndefined();
  expect(speculation.tick(tickWith())).toBeUndefined();
}

test("the outcome of a tick without speculated steps is returned unchanged", () => {
  expect(put()).toBe(last);
  expectNothing();
});

test("speculated steps and their ticks are returned one after the other, as the run asks for them", () => {
  expect(put(speculated(1), speculated(2))).toMatchObject({ end: { type: "suspended" }, logs: ["before 1"] });
  expect(speculation.step(stepCall(1))).toEqual(resultOf(1));
  memo.push(entry(1));
  // all lines that run() has logged so far
  expect(speculation.tick(tickWith())).toMatchObject({ end: { type: "suspended" }, logs: ["before 1", "before 2"] });
  expect(speculation.step(stepCall(2))).toEqual(resultOf(2));
  memo.push(entry(2));
  expect(speculation.tick(tickWith())).toBe(last);
  expectNothing();
});

test("values that now() fixed are predicted, in any order", () => {
  put(speculated(1, { notes: [{ key: "now", json: "5" }] }), speculated(2));
  speculation.step(stepCall(1));
  memo.push({ key: "now", value: { json: "5" } }, entry(1));
  expect(speculation.tick(tickWith())).toMatchObject({ logs: ["before 1", "before 2"] });
});

describe("speculated results are dropped when", () => {
  const expectDropped = (call: TickCall): void => {
    put(speculated(1), speculated(2));
    expect(speculation.step(stepCall(1))).toEqual(resultOf(1));
    expect(speculation.tick(call)).toBeUndefined();
    expectNothing();
  };
  test("the step had another result", () => {
    memo.push({ key: "k0", value: { json: "0" } });
    const call = tickWith();
    put(speculated(1), speculated(2));
    speculation.step(stepCall(1));
    memo.push({ key: "k1", value: { json: '"other"' } });
    expect(speculation.tick(call)).toBeUndefined();
    expectNothing();
  });
  test("the step failed", () => {
    put(speculated(1), speculated(2));
    speculation.step(stepCall(1));
    memo.push({ key: "k1", value: { error: { message: "no", code: "step_error" } } });
    expect(speculation.tick(tickWith())).toBeUndefined();
    expectNothing();
  });
  test.each([
    ["another entry came first", [{ key: "approval", value: { json: "1" } }, entry(1)]],
    ["another entry came after it", [entry(1), { key: "approval", value: { json: "1" } }]],
    ["another entry came instead", [{ key: "approval", value: { json: "1" } }]],
    ["now() fixed another value", [{ key: "now", value: { json: "6" } }, entry(1)]],
  ])("%s", (_, more) => {
    put(speculated(1, { notes: [{ key: "now", json: "5" }] }), speculated(2));
    speculation.step(stepCall(1));
    memo.push(...more);
    expect(speculation.tick(tickWith())).toBeUndefined();
    expectNothing();
  });
  test("the memo is another array with the same entries", () => expectDropped(tickWith({ memo: [entry(1)] })));
  test("the next tick comes before the step", () => {
    put(speculated(1));
    memo.push(entry(1));
    expect(speculation.tick(tickWith())).toBeUndefined();
    expectNothing();
  });
  test("the step comes twice", () => {
    put(speculated(1), speculated(2));
    speculation.step(stepCall(1));
    expect(speculation.step(stepCall(1))).toBeUndefined();
    memo.push(entry(1));
    expectNothing();
  });
  test.each<[string, Partial<StepCall>]>([
    ["other arguments", { args: '{"n":2}' }],
    ["the same arguments as other text", { args: '{ "n": 1 }' }],
    ["another step", { step: "other" }],
    ["another script", { sha256: "y" }],
    ["another attempt", { context: { ...context, attempt: 2 } }],
    ["another person to act for", { context: { ...context, run_as: { type: "person", id: "p1" } } }],
    ["a smaller result limit", { max_result_bytes: 999 }],
  ])("the step comes with %s", (_, more) => {
    put(speculated(1), speculated(2));
    expect(speculation.step(stepCall(1, more))).toBeUndefined();
    expectNothing();
  });
  test("the run is forgotten", () => {
    put(speculated(1));
    speculation.forget("r1");
    expectNothing();
  });
  test("a later tick of the run has no speculated steps", () => {
    put(speculated(1));
    put();
    expectNothing();
  });
});

test("a run gets no speculated result of another run", () => {
  put(speculated(1));
  expect(speculation.step(stepCall(1, { context: { ...context, run_id: "r2" } }))).toBeUndefined();
  expect(speculation.tick(tickWith({ run_id: "r2" }))).toBeUndefined();
  expect(speculation.step(stepCall(1))).toEqual(resultOf(1));
});

test("beyond 500 runs the results of the oldest run are dropped", () => {
  put(speculated(1));
  for (let n = 0; n < 500; n++)
    speculation.put(`other ${n}`, { memo, length: 0 }, { speculated: [speculated(1)], outcome: last });
  expect(speculation.step(stepCall(1))).toBeUndefined();
  const newest = stepCall(1, { context: { ...context, run_id: "other 0" } });
  // its order names another run
  expect(speculation.step(newest)).toBeUndefined();
});
