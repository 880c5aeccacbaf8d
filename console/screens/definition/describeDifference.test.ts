import { expect, test } from "vitest";
import type { CheckedRun, Difference } from "../../api/checkRuns.ts";
import { describeOutcome } from "./describeDifference.ts";

const run = (part: Partial<CheckedRun>): CheckedRun => ({
  run_id: "r",
  status: "completed",
  definition_version: 1,
  outcome: "different",
  difference: null,
  error: null,
  ...part,
});
const different = (part: Partial<Difference>) =>
  describeOutcome(
    run({
      difference: { reason: "end", call: null, recorded: null, pointers: [], line: null, column: null, ...part },
    }),
  );
const refund = { kind: "step", name: "refund" };

test("a sentence describes a run that takes a different path", () => {
  expect(different({ reason: "arguments", recorded: refund, pointers: ["/amount", ""] })).toBe(
    "It calls the step “refund” with other arguments: /amount, the whole value.",
  );
  expect(different({ reason: "call", recorded: refund, call: { kind: "timer", name: null } })).toBe(
    "It calls the timer instead of the step “refund”.",
  );
  expect(different({ reason: "missing", recorded: { kind: "messageWait", name: "paid" } })).toBe(
    "It does not call the wait for an event “paid”.",
  );
  expect(different({ reason: "added", call: refund })).toBe("It then calls the step “refund”, which the run did not.");
  expect(different({ reason: "result", pointers: ["/1", "/2", "/3", "/4", "/5", "/6", "/7"] })).toBe(
    "Its result differs: /1, /2, /3, /4, /5 and 2 more.",
  );
  expect(different({})).toBe("One of the two waits or fails where the other ends.");
  expect(
    describeOutcome(
      run({ outcome: "failed", error: { code: "run_error", message: "no stock", line: 3, column: null } }),
    ),
  ).toBe("run() throws: no stock");
  expect(describeOutcome(run({ outcome: "unanswered" }))).toContain("a call that nobody answered");
  expect(describeOutcome(run({ outcome: "same" }))).toBe("");
});
