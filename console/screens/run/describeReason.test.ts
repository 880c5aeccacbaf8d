import { expect, test } from "vitest";
import type { Attempt, StepReason } from "../../api/run.ts";
import { describeReason, describeRetry } from "./describeReason.ts";

const parent = { run_id: "a", kind: "fork" as const, step: "refund", step_id: null, args: null };
const none = { step: null, from: null, to: null };

test.each<[StepReason, string | undefined]>([
  [{ reason: "no_parent", parent: null, changes: [] }, undefined],
  [
    { reason: "failed", parent: { ...parent, kind: "retry" }, changes: [] },
    "It ran again because it failed in the run that this one retries.",
  ],
  [
    { reason: "forked", parent, changes: [{ ...none, what: "version", from: 1, to: 3 }] },
    "It ran again with the same arguments because the fork executes refund and everything after it. This run has version 3 of the code instead of 1.",
  ],
  [
    {
      reason: "arguments",
      parent,
      changes: [
        { ...none, what: "run_arguments" },
        { ...none, what: "result", step: "look" },
        { ...none, what: "result" },
      ],
    },
    "It ran with other arguments than in the run that this one was forked from. This run has other arguments of the run, another result of look and another result of an earlier step.",
  ],
])("a reason is described as: $1", (reason, words) => {
  expect(describeReason(reason)).toBe(words);
});

test("a later attempt is explained by a failure or a lost process", () => {
  const attempts = [
    { n: 1, status: "failed" },
    { n: 2, status: "lost" },
  ] as Attempt[];
  expect([1, 2, 3].map((n) => describeRetry(attempts, n))).toEqual([
    undefined,
    "Because attempt 1 failed.",
    "Because the process of attempt 2 was lost.",
  ]);
});
