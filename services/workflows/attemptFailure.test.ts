import { expect, test } from "vitest";
import { StepSettings } from "#events/definition.ts";
import { toServiceFailure, failForRetry, retryAt, retryFailure } from "./attemptFailure.ts";
import { StepFailure } from "./tick.ts";

const settings = (fields: object = {}) => StepSettings.parse(fields);
const failed = (attempt: number, more: object = {}) => ({
  attempt,
  lost: 0,
  now: 0,
  chance: 0.5,
  final: false,
  retry_after_ms: null,
  ...more,
});
const delay = (of: StepSettings, ...[attempt, more]: Parameters<typeof failed>) => {
  const at = retryAt(of, failed(attempt, more));
  return at === null ? null : Date.parse(at);
};

test("a step is retried after growing delays, up to its number of retries", () => {
  const four = [1, 2, 3, 4].map((attempt) => delay(settings(), attempt));
  expect(four).toEqual([500, 1_000, 2_000, null]);
  expect(delay(settings({ backoff: { kind: "fixed", initial_ms: 700 } }), 3)).toBe(700);
  expect(delay(settings({ retries: 20 }), 20)).toBe(60_000);
  expect(delay(settings({ retries: 0 }), 1)).toBeNull();
});

test("the jitter of a step spreads the delay of a retry", () => {
  expect(delay(settings(), 1, { chance: 0 })).toBe(400);
  expect(delay(settings(), 1, { chance: 1 })).toBe(600);
});

test("a retry waits as long as the other side asks for, up to a week", () => {
  expect(delay(settings(), 1, { retry_after_ms: 30_000 })).toBe(30_000);
  expect(delay(settings(), 1, { retry_after_ms: 1e18 })).toBe(7 * 24 * 60 * 60 * 1000);
});

test("a final failure has no retry, and a lost attempt does not count as one", () => {
  expect(delay(settings(), 1, { final: true })).toBeNull();
  expect(delay(settings(), 6, { lost: 2 })).toBeNull();
  expect(delay(settings(), 5, { lost: 2 })).toBe(2_000);
  expect(delay(settings({ retries: 0 }), 2, { lost: 2 })).toBe(500);
});

test("an attempt that the service could not run is retried after growing delays, and fails in the end", () => {
  const retries = [0, 1, 2, 3, 4, 5].map((lost) => {
    const entry = failForRetry({ losses: new Map([["k", lost]]) }, { key: "k", attempt: lost + 1, now: 0 });
    return entry.type === "step_attempt_failed" && entry.retry_at !== null ? Date.parse(entry.retry_at) : null;
  });
  expect(retries).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, null]);
});

test("a step whose runner is lost is retried quickly once, then after growing delays, and fails in the end", () => {
  const quick = settings({ retries: 0, backoff: { kind: "fixed", initial_ms: 500, jitter: 0 } });
  const lost = new StepFailure("runner_lost", "gone");
  const retries = [0, 1, 2, 3, 4, 5].map((lostBefore) => {
    const at = retryFailure(quick, { attempt: lostBefore + 1, lostBefore, now: 0 }, lost);
    return at === null ? null : Date.parse(at);
  });
  expect(retries).toEqual([500, 2_000, 4_000, 8_000, 16_000, null]);
});

test("a failure that is final, or has a reason of its own, is unchanged while the service lacks a dependency", () => {
  for (const own of [new StepFailure("step_error", "no", { final: true }), new StepFailure("tool_not_allowed", "no")])
    expect(toServiceFailure(settings(), own, 0)).toBe(own);
});
