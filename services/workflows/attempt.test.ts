import { describe, expect, test } from "vitest";
import { StepSettings } from "#events/definition.ts";
import { blame, keepLogs, failForRetry, retryAt, runAttempt } from "./attempt.ts";
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

test("the lines that the steps of a run log are kept until all together are too long", () => {
  const lines = ["a".repeat(600), "b".repeat(600)];
  expect(keepLogs({ stepLogs: 0 }, lines)).toBe(lines);
  const nearlyFull = 16 * 1024 * 1024 - 1_000;
  expect(keepLogs({ stepLogs: nearlyFull }, lines)).toEqual([lines[0], expect.stringContaining("not kept")]);
  expect(keepLogs({ stepLogs: nearlyFull + 1_000 }, lines)).toEqual([expect.stringContaining("not kept")]);
  expect(keepLogs({ stepLogs: nearlyFull + 1_000 }, [])).toEqual([]);
});

describe("an attempt that fails while the service lacks what it needs", () => {
  const failure = new StepFailure("step_error", "fetch: the platform could not do this now", { line: 3, logs: ["a"] });

  /** One attempt at a step that may not be retried and fails with `failure`. */
  const attemptOnce = (wasAway: boolean, { losses = 0, on_lost = "retry" } = {}) => {
    const host = { host: {}, secretNames: () => [], redact: async (text: string) => text, wasAway: () => wasAway };
    const deps = {
      runner: { step: () => Promise.reject(failure) },
      openHost: () => ({ ...host, redactJson: host.redact }),
      now: () => 0,
    };
    const history = {
      created: { run_id: "r", organization_id: "o", limits: { step_timeout_s: 1 }, started_by: {} },
      state: {},
      steps: new Map([["k", { name: "step", args: {} }]]),
      losses: new Map([["k", losses]]),
      stepLogs: 0,
    };
    const run = { history, values: { json: async () => "{}" } };
    const script = { steps: { step: settings({ retries: 0, on_lost }) } };
    const attempt = { key: "k", attempt: losses + 1, epoch: 1, worker: "w", ensureRecorded: async () => {} };
    return runAttempt(deps as never, run as never, script as never, attempt, new AbortController().signal);
  };

  test("is repeated after growing delays and costs no retry", async () => {
    const { message } = failure;
    expect(await attemptOnce(true)).toMatchObject({
      ...{ code: "runner_lost", retry_at: new Date(1_000).toISOString() },
      ...{ error: { message, line: 3 }, logs: ["a"] },
    });
    expect(await attemptOnce(true, { losses: 4 })).toMatchObject({ retry_at: new Date(16_000).toISOString() });
  });

  test("has its own retries only, when it has been repeated five times, or the step may not run twice", async () => {
    const failed = { code: "step_error", retry_at: null };
    expect(await attemptOnce(true, { losses: 5 })).toMatchObject(failed);
    expect(await attemptOnce(true, { on_lost: "fail" })).toMatchObject(failed);
    expect(await attemptOnce(false)).toMatchObject(failed);
  });

  test("and tells what is final, or has a reason of its own, fails with that", () => {
    for (const own of [new StepFailure("step_error", "no", { final: true }), new StepFailure("tool_not_allowed", "no")])
      expect(blame(settings(), own, 0)).toBe(own);
  });
});
