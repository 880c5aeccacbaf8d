import { expect, test } from "vitest";
import { StepCompleted, StepStarted, StepsScheduled, TimerFired, TimerStarted, type RunEvent } from "#events/run.ts";
import { computingTime } from "#test/computingTime.ts";
import { liveRun } from "#test/samples.ts";
import { startChanges } from "./runChanges.ts";
import { evolve, isLive } from "./runState.ts";

const AT = "2026-01-01T00:00:00.000Z";
const id = { run_id: "r1" };
const STEPS = 2_000;
const keys = Array.from({ length: STEPS }, (_, n) => `step-${n}`.padEnd(22, "_"));

const run = liveRun({ expires_at: AT, max_steps: STEPS });
const events: RunEvent[] = [
  StepsScheduled.of(
    {
      ...id,
      at: AT,
      concurrency: null,
      on_error: "fail",
      steps: keys.map((key) => ({ key, name: "pay", batch: null, index: null })),
    },
    { args: keys.map(() => ({ json: "1" })) },
  ),
  ...keys.map((key) => StepStarted.of({ ...id, key, name: "pay", attempt: 1, at: AT, worker: "w1" })),
  ...keys.map((key) =>
    StepCompleted.of(
      { ...id, key, name: "pay", attempt: 1, at: AT, duration_ms: 1, secrets: [] },
      { result: { json: "1" }, logs: [] },
    ),
  ),
];

/**
 * Limit of recording a large tick in one piece: it blocks the event loop shared by all organizations. Copying objects instead of
 * arrays took seconds.
 */
const MAX_MS = 1_000;

test("the events of 2,000 steps that are open at once are folded within a second of processor time", () => {
  const fold = () => events.reduce((state, event) => evolve(state, event), run as ReturnType<typeof evolve>);
  const end = fold();
  expect(isLive(end) && [end.steps.length, end.scheduled]).toEqual([0, STEPS]);
  expect(computingTime(fold)).toBeLessThan(MAX_MS);
});

test("a command fires the ten thousand timers of a run of an earlier release within a second of processor time", () => {
  const timers = Array.from({ length: 10_000 }, (_, n) => `timer-${n}`.padEnd(22, "_"));
  const before = run as ReturnType<typeof evolve>;
  const start = () => {
    const changes = startChanges(before);
    for (const key of timers) changes.add(TimerStarted.of({ ...id, key, fires_at: AT }));
    return changes;
  };
  const started = start().state;
  expect(isLive(started) && Object.keys(started.timers)).toEqual(timers);
  const fire = () => {
    const changes = startChanges(started);
    for (const key of timers) changes.add(TimerFired.of({ ...id, key }));
    return changes.state;
  };
  const ended = fire();
  expect(isLive(ended) && ended.timers).toEqual({});
  // the states that commands began with have not changed
  expect(isLive(before) && before.timers).toEqual({});
  expect(isLive(started) && Object.keys(started.timers)).toHaveLength(timers.length);
  expect(computingTime(() => [start(), fire()])).toBeLessThan(MAX_MS);
});
