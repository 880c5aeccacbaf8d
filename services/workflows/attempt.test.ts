import { expect, test } from "vitest";
import { StepSettings } from "#events/definition.ts";
import { notRun, retryAt } from "./attempt.ts";

const settings = (given: object = {}) => StepSettings.parse(given);
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

test("attempts follow each other at growing distances, and end", () => {
  const four = [1, 2, 3, 4].map((attempt) => delay(settings(), attempt));
  expect(four).toEqual([500, 1_000, 2_000, null]);
  expect(delay(settings({ backoff: { kind: "fixed", initial_ms: 700 } }), 3)).toBe(700);
  expect(delay(settings({ retries: 20 }), 20)).toBe(60_000);
  expect(delay(settings({ retries: 0 }), 1)).toBeNull();
});

test("chance spreads them by the share that the step says", () => {
  expect(delay(settings(), 1, { chance: 0 })).toBe(400);
  expect(delay(settings(), 1, { chance: 1 })).toBe(600);
});

test("what the other side asks for is waited for, within a week", () => {
  expect(delay(settings(), 1, { retry_after_ms: 30_000 })).toBe(30_000);
  expect(delay(settings(), 1, { retry_after_ms: 1e18 })).toBe(7 * 24 * 60 * 60 * 1000);
});

test("a final failure has no other attempt, and one that was lost counts for nothing", () => {
  expect(delay(settings(), 1, { final: true })).toBeNull();
  expect(delay(settings(), 6, { lost: 2 })).toBeNull();
  expect(delay(settings(), 5, { lost: 2 })).toBe(2_000);
  expect(delay(settings({ retries: 0 }), 2, { lost: 2 })).toBe(500);
});

test("an attempt that could not be run is tried again later and later, and given up in the end", () => {
  const retries = [0, 1, 2, 3, 4, 5].map((lost) => {
    const entry = notRun({ losses: new Map([["k", lost]]) }, { key: "k", attempt: lost + 1, now: 0 });
    return entry.type === "step_attempt_failed" && entry.retry_at !== null ? Date.parse(entry.retry_at) : null;
  });
  expect(retries).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, null]);
});
