import { describe, expect, test } from "vitest";
import type { RaisedSignal } from "./signalWarnings.ts";
import { tickEnd, type RunPromise, type ThrownByRun } from "./tickEnd.ts";

const SUSPENDED = { type: "suspended" };
const signal = (call: string, line: number): RaisedSignal => ({
  call,
  ends: false,
  stack: `at run (script.js:${line})`,
});
const RAISED = [signal('runStep("a")', 3), signal('runStep("b")', 4)];
const signalsOf = (raised: RaisedSignal[], floating: number[] = []) => ({
  raised: () => raised,
  isAwaited: (n: number) => !floating.includes(n),
});
const thrown = (more: Partial<ThrownByRun>): RunPromise => ({
  is: "thrown",
  thrown: { signal: null, ends: false, wraps: null, error: { name: "RangeError", message: "no" }, ...more },
});
const returned = (json: string): RunPromise => ({ is: "returned", json: () => json });
const failed = (message: string) => ({ type: "failed", code: "run_error", message, line: null, column: null });

describe("A tick", () => {
  test.each<[title: string, state: RunPromise, isOpen: boolean, end: object, warned: string[]]>([
    ["is suspended while run() waits for a call", { is: "pending" }, true, SUSPENDED, []],
    ["is suspended by the signal of a call", thrown({ signal: 1 }), true, SUSPENDED, []],
    [
      "is completed by the result of run()",
      returned("5"),
      false,
      { type: "completed", completion: "implicit", json: "5" },
      [],
    ],
    ["is suspended when run() returns before its calls have results", returned("5"), true, SUSPENDED, ["a", "b"]],
    ["warns of signals that were caught before complete()", thrown({ signal: 1, ends: true }), true, SUSPENDED, ["a"]],
    ["fails by an error of run()", thrown({}), true, failed("RangeError: no"), ["a", "b"]],
  ])("%s", (_, state, isOpen, end, warned) => {
    const { end: actual, warnings } = tickEnd(state, isOpen, signalsOf(RAISED));
    expect(actual).toEqual(end);
    expect(warnings).toEqual(
      warned.map((step) => expect.objectContaining({ code: "signal_swallowed", call: `runStep("${step}")` })),
    );
  });

  test("does not warn of a signal that nothing awaits", () => {
    expect(tickEnd(returned("5"), true, signalsOf(RAISED, [0])).warnings).toMatchObject([{ call: 'runStep("b")' }]);
  });

  test("that fails with a signal in its error names that signal first", () => {
    const { end, warnings } = tickEnd(thrown({ wraps: 1 }), true, signalsOf(RAISED));
    expect(end).toMatchObject({ message: expect.stringContaining('contains the signal of runStep("b")') });
    expect(warnings).toMatchObject([
      { code: "nested_signal", call: 'runStep("b")', line: 4 },
      { code: "signal_swallowed", call: 'runStep("a")', line: 3 },
    ]);
  });

  test("that runs out of memory reports the limit, what uses the memory, and what to do", () => {
    const error = { name: "InternalError", message: "out of memory", stack: "at run (script.js:4:48)" };
    expect(tickEnd(thrown({ error }), false, signalsOf([])).end).toMatchObject({
      code: "out_of_memory",
      line: 4,
      message: expect.stringMatching(/than 32 MiB, .* results of all its steps share\. Save what is large as a file/),
    });
  });

  test.each<[title: string, state: RunPromise, code: string]>([
    ["run() waits for something else than a call", { is: "pending" }, "run_stuck"],
    ["the result is too long", returned("1".repeat(1_048_577)), "result_too_large"],
    ["the result nests too deep", returned(`${"[".repeat(201)}${"]".repeat(201)}`), "result_too_large"],
  ])("fails when %s", (_, state, code) => {
    expect(() => tickEnd(state, false, signalsOf([]))).toThrow(expect.objectContaining({ code }));
  });
});
