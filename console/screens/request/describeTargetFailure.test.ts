import { expect, test } from "vitest";
import { describeTargetFailure } from "./describeTargetFailure.ts";

const usage = { prompt_tokens: 10, completion_tokens: 2, cached_tokens: 0, reasoning_tokens: 0 };

test.each([
  [{ reason: "503" }, "answered 503, 10 ms"],
  [{ reason: "circuit_open" }, "not asked: it failed too often before"],
  [{ reason: "timeout", usage }, "said nothing in time, 10 ms, 12 tokens"],
  [
    { reason: "worker_lost", usage: { ...usage, cost: "0.5" } },
    "the process that asked it was lost, 12 tokens ($0.50)",
  ],
])("a target with %o %s", (failure, shown) => {
  const of = { target: "p/a", round: 1, duration_ms: 10, ...failure };
  expect(describeTargetFailure(of, false)).toBe(shown);
  expect(describeTargetFailure(of, true)).toBe(`${shown}, round 2`);
});
