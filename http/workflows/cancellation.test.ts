import { expect, test } from "vitest";
import { RunCancelled, StepAttemptFailed, StepCompleted } from "#events/run.ts";
import { AT, CREATED, keyOf, RUN_ID, scheduledAndBegun } from "#test/doubles/runInMemory.ts";
import { readCancellation } from "./cancellation.ts";
import { foldRun, listRunningSteps } from "./foldRun.ts";

const [A, B, C, D] = [keyOf("a"), keyOf("b"), keyOf("c"), keyOf("d")];
const step = { run_id: RUN_ID, name: "work", attempt: 1, at: AT, duration_ms: 1, secrets: [] };
const failed = StepAttemptFailed.of(
  { ...step, key: B, code: "step_error", retry_at: AT },
  { error: { message: "no", line: null }, logs: [] },
);
const by = { type: "person" as const, id: "p" };
const EVENTS = [
  CREATED,
  ...[A, B, C, D].flatMap(scheduledAndBegun),
  StepCompleted.of({ ...step, key: A }, { result: { json: "1" }, logs: [] }),
  failed,
  RunCancelled.of({ run_id: RUN_ID, slot: null, forget_at: AT, by }, { reason: "enough" }),
  StepCompleted.of({ ...step, key: C }, { result: { json: "1" }, logs: [] }),
].map((event, n) => ({ ...event, version: n + 1, recorded_at: new Date(n) }));

test("a cancellation names the steps that still run, as the whole run does, and is read page by page", async () => {
  let pages = 0;
  const streamPages = async function* () {
    for (const event of EVENTS) {
      pages += 1;
      yield { events: [event], bytes: 1 };
    }
  };
  const run = await foldRun(EVENTS as never);
  expect(await readCancellation({ streamPages } as never, RUN_ID)).toEqual({
    cancelled_at: run.completed_at!.toISOString(),
    cancelled_by: by,
    cancel_reason: "enough",
    steps_still_running: listRunningSteps(run).length,
  });
  expect([listRunningSteps(run).length, pages]).toEqual([1, EVENTS.length]);
});
