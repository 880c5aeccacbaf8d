import { describe, expect, test } from "vitest";
import { StepSettings } from "#events/definition.ts";
import { keepLogs, runAttempt } from "./attempt.ts";
import { StepFailure } from "./tick.ts";

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
  const attemptOnce = (wasUnavailable: boolean, { losses = 0, on_lost = "retry" } = {}) => {
    const host = {
      host: {},
      secretNames: () => [],
      redact: async (text: string) => text,
      wasUnavailable: () => wasUnavailable,
    };
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
    const script = { steps: { step: StepSettings.parse({ retries: 0, on_lost }) } };
    const attempt = { key: "k", attempt: losses + 1, epoch: 1, worker: "w", ensureRecorded: async () => {} };
    return runAttempt(deps as never, run as never, script as never, attempt, new AbortController().signal);
  };

  test("is repeated after growing delays and costs no retry", async () => {
    const error = { message: failure.message, line: 3 };
    const retry_at = new Date(1_000).toISOString();
    expect(await attemptOnce(true)).toMatchObject({ code: "runner_lost", retry_at, error, logs: ["a"] });
    expect(await attemptOnce(true, { losses: 4 })).toMatchObject({ retry_at: new Date(16_000).toISOString() });
  });

  test("has its own retries only, when it has been repeated five times, or the step may not run twice", async () => {
    const failed = { code: "step_error", retry_at: null };
    expect(await attemptOnce(true, { losses: 5 })).toMatchObject(failed);
    expect(await attemptOnce(true, { on_lost: "fail" })).toMatchObject(failed);
    expect(await attemptOnce(false)).toMatchObject(failed);
  });
});
