import { expect, test } from "vitest";
import { checkResult, stepRejection, type ThrownByStep } from "./attemptFailure.ts";

const thrown = (more: Partial<ThrownByStep> = {}): ThrownByStep => ({
  name: "RangeError",
  message: "no stock",
  stack: "at work (script.js:7:3)",
  code: null,
  final: false,
  retryAfter: null,
  ...more,
});

test.each<[title: string, error: ThrownByStep, lastRetryAfter: number | null, details: object]>([
  [
    "has the error's message and line",
    thrown(),
    null,
    { code: "step_error", message: "RangeError: no stock", line: 7 },
  ],
  ["may be retried", thrown(), null, { final: false, retry_after_ms: null }],
  [
    "keeps the code of the host",
    thrown({ code: "egress_not_allowed", final: true }),
    null,
    { code: "egress_not_allowed", final: true },
  ],
  ["waits as long as the error says", thrown({ retryAfter: 1.5 }), 60, { retry_after_ms: 1_500 }],
  ["waits as long as the last answer says", thrown(), 60, { retry_after_ms: 60_000 }],
  ["waits a week at most", thrown({ retryAfter: 1e18 }), null, { retry_after_ms: 604_800_000 }],
  ["never waits less than 0 ms", thrown({ retryAfter: -5 }), null, { retry_after_ms: 0 }],
  [
    "is a limit when memory is out",
    thrown({ name: "InternalError", message: "out of memory" }),
    null,
    { code: "step_limit", final: true },
  ],
])("The failure of a step that threw an error %s", (_, error, lastRetryAfter, details) => {
  expect(stepRejection(error, lastRetryAfter).details).toMatchObject(details);
});

test.each<[title: string, json: string, details: object]>([
  ["has too many bytes", '"ää"', { code: "step_result_too_large", final: true }],
  ["nests too deep", "[".repeat(201) + "]".repeat(201), { code: "step_error", message: "The result nests too deep." }],
])("A result that %s is a failure", (_, json, details) => {
  expect(() => checkResult(json, json.includes("ä") ? 5 : 1_000)).toThrow(
    expect.objectContaining({ details: expect.objectContaining(details) }),
  );
  expect(checkResult('"a"', 5)).toBe('"a"');
});
