import { beforeEach, describe, expect, test } from "vitest";
import { newCallHistory, addMemoEntries, type CallHistory } from "./callHistory.ts";
import { MAX_FIXED_VALUES, MAX_OUTSTANDING_CALLS } from "./limits.ts";
import type { Speculate } from "./stepCalls.ts";
import { createTickCalls } from "./tickCalls.ts";

const RUN = "5f0c0a2e-0000-4000-8000-000000000001";
const NOW = 1_000;
const step = (name: string, json = "{}") => `step:fail:${name.length}:-:${name}${json}`;
const many = (json: string) => `many:fail:1:-:a${json}`;

let history: CallHistory;
beforeEach(() => {
  history = newCallHistory();
});
const tick = (speculate?: Speculate) =>
  createTickCalls({ run_id: RUN, now: NOW, history, ...(speculate && { speculate }) });
/** Runs a tick that makes one request, and adds a result for it to the memo. */
function answer(request: string, json: string): string {
  const calls = tick();
  calls.requestSteps(request, 1);
  const [pending] = calls.outcome().pending;
  const { key } = pending?.kind === "steps" ? pending.steps[0]! : expect.unreachable("no step was requested");
  addMemoEntries(history, [{ key, value: { json } }]);
  return key;
}

describe("The calls of a tick", () => {
  test("are requested once, in order, when they have no result", () => {
    const calls = tick();
    for (const request of [step("b"), step("a"), step("b")]) expect(calls.requestSteps(request, 0)).toBeUndefined();
    expect(calls.outcome().pending).toMatchObject([{ steps: [{ name: "b" }] }, { steps: [{ name: "a" }] }]);
    expect(calls.isOpen()).toBe(true);
  });

  test("are answered by the text of the request or by its structure", () => {
    answer(step("a", '{"x":1,"y":2}'), "5");
    const calls = tick();
    expect(calls.findAnswer(step("a", '{"x":1,"y":2}'))).toBe("5");
    expect(calls.findAnswer(step("a", '{"y":2,"x":1}'))).toBeUndefined();
    expect(calls.requestSteps(step("a", '{"y":2,"x":1}'), 0)).toBe("5");
    expect(calls.outcome()).toMatchObject({ pending: [], unusedKeys: [] });
    expect(calls.isOpen()).toBe(false);
  });

  test("of many items are requested for the items without a result only", () => {
    answer(many("[1]"), "10");
    const calls = tick();
    expect(calls.requestSteps(many("[1,2]"), 7)).toBeUndefined();
    expect(calls.outcome().pending).toMatchObject([{ concurrency: 7, steps: [{ args: "2" }] }]);
  });

  test("report results that they do not use, once they request something new", () => {
    const key = answer(step("a"), "1");
    expect(tick().outcome().unusedKeys).toEqual([]);
    const calls = tick();
    calls.requestSteps(step("b"), 0);
    expect(calls.outcome().unusedKeys).toEqual([key]);
  });

  test("fix the time of now() by its label, and keep it", () => {
    const first = tick();
    expect([first.request("now", "a", "", undefined), first.request("now", "a", "", undefined)]).toEqual([
      "1000",
      "1000",
    ]);
    const { notes } = first.outcome();
    expect(notes).toMatchObject([{ json: "1000" }]);
    addMemoEntries(history, [{ key: notes[0]!.key, value: { json: "7" } }]);
    expect(tick().request("now", "a", "", undefined)).toBe("7");
  });

  test("end with the first complete()", () => {
    const calls = tick();
    calls.request("complete", "", "1", undefined);
    calls.request("complete", "", "2", undefined);
    expect([calls.ended(), calls.isOpen()]).toEqual([{ type: "completed", completion: "explicit", json: "1" }, true]);
  });

  test("continue as another run with the first continueAs()", () => {
    const calls = tick();
    calls.request("continueAs", "at run (script.js:3:7)", '{"n":1}', undefined);
    calls.request("complete", "", "2", undefined);
    calls.request("continueAs", "", '{"n":2}', undefined);
    expect(calls.ended()).toEqual({ type: "continued", args: '{"n":1}', line: 3, column: 7 });
  });

  test.each<[title: string, make: (calls: ReturnType<typeof tick>) => unknown, message: RegExp]>([
    ["an invalid duration", (calls) => calls.request("sleep", "", '"soon"', undefined), /a duration is/],
    ["too many items", (calls) => calls.requestSteps(many(JSON.stringify(Array(1_001).fill(0))), 1), /more than 1000/],
    ["a long key", (calls) => calls.request("sleep", "", "1", "k".repeat(201)), /key must have 0 to 200/],
    [
      "too many calls without a result",
      (calls) =>
        Array.from({ length: MAX_OUTSTANDING_CALLS + 1 }, (_, n) => calls.requestSteps(step("a", `${n}`), 0)).at(-1),
      /more than 10000 calls without a result/,
    ],
    [
      "too many values of now()",
      (calls) =>
        Array.from({ length: MAX_FIXED_VALUES + 1 }, (_, n) => calls.request("now", `${n}`, "", undefined)).at(-1),
      /more than 1000 labels/,
    ],
  ])("answer %s with an error of the script", (_, make, message) => {
    expect(make(tick())).toMatch(message);
  });
});

describe("A speculative step", () => {
  const order = { sha256: "", step: "", input: "", max_result_bytes: 1 };
  const speculate: Speculate = ({ args }) => ({ order, result: { json: args, logs: [] } });

  test("answers its call, and is kept with the outcome that the tick would have had", () => {
    const calls = tick(speculate);
    calls.request("log", "before", "", undefined);
    expect(calls.requestSteps(step("a", '{"n":1}'), 0)).toBe('{"n":1}');
    calls.request("log", "after", "", undefined);
    expect(calls.outcome()).toMatchObject({ pending: [], logs: ["before", "after"] });
    const [speculated] = calls.takeSpeculated();
    expect(speculated!.outcome).toMatchObject({
      end: { type: "suspended" },
      pending: [{ steps: [{ name: "a" }] }],
      logs: ["before"],
    });
  });

  test("has no result in the history once the tick has ended", () => {
    const calls = tick(speculate);
    calls.requestSteps(step("a"), 0);
    expect(history.answered).toBe(1);
    calls.takeSpeculated();
    expect(history.answered).toBe(0);
    expect(tick().requestSteps(step("a"), 0)).toBeUndefined();
  });

  test.each<[title: string, before: (calls: ReturnType<typeof tick>) => void]>([
    ["another call has no result", (calls) => void calls.request("sleep", "", "1", undefined)],
    ["a known result was not used", () => {}],
    ["complete() was called", (calls) => void calls.request("complete", "", "1", undefined)],
  ])("does not run when %s", (title, before) => {
    if (title.includes("known")) answer(step("known"), "1");
    const calls = tick(speculate);
    before(calls);
    expect(calls.requestSteps(step("a"), 0)).toBeUndefined();
    expect(calls.takeSpeculated()).toEqual([]);
  });
});
