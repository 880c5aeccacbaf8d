import { beforeEach, expect, test } from "vitest";
import { scheduledRunId } from "#events/schedule.ts";
import { checkSchedules } from "../../dev/crash/check/schedules.ts";
import { newScenario } from "./scenario.ts";

const TRIGGER = "01a20765-cdae-78d6-87f9-6f815e857f4a";
const times = ["10:00:00", "10:00:05", "10:00:10", "10:00:15"].map((time) => `2026-11-23T${time}.000Z`);
const [first, second, third, fourth] = times as [string, string, string, string];
const last = "2026-11-23T10:00:20.000Z";
const nextOf = (due_at: string | null) => ({ next: due_at && { due_at, fires_at: due_at } });

let scenario: ReturnType<typeof newScenario>;
const event = (type: string, data: object) =>
  scenario.event(type, `trigger-${TRIGGER}`, "schedule", { trigger_id: TRIGGER, ...data });
const fired = (due_at: string, next: string, action = "start") =>
  event("ScheduleFired", { due_at, action, ...nextOf(next) });
const run = (due_at: string) => {
  const run_id = scheduledRunId(TRIGGER, due_at);
  scenario.event("RunCreated", `run-${run_id}`, "schedule", { run_id });
};
const found = () => checkSchedules(scenario.evidence()).map(({ kind, what }) => `${kind}: ${what}`);

beforeEach(() => {
  scenario = newScenario();
  event("ScheduleCreated", { rule: { every: 5, from: "2026-11-23T09:59:55.000Z" }, ...nextOf(first) });
  fired(first, second);
  run(first);
});

test("a schedule whose due times are decided in order, with a run each, is no finding", () => {
  fired(second, third, "skip");
  event("ScheduleTimesMissed", { first_due_at: third, ...nextOf(fourth) });
  fired(fourth, last, "queue");
  expect(found()).toEqual([`stuck: ${fourth} waits for the run before`]);
  event("ScheduleDequeued", { due_at: fourth });
  run(fourth);
  fired(last, "2026-11-23T10:00:25.000Z", "queue");
  event("SchedulePaused", {});
  expect(found()).toEqual([]);
});

test("a due time without a run, with two runs, or decided twice, is a finding", () => {
  fired(second, third);
  expect(found()).toEqual([`lost: no run of ${second}`]);
  run(second);
  run(second);
  expect(found()).toEqual([`doubled: 2 runs of ${second}`]);
  fired(first, second);
  expect(found()).toContain(`doubled: ${first} was decided 2 times`);
});

test("a skipped due time is a finding", () => {
  fired(third, fourth);
  run(third);
  expect(found()).toEqual([`different: ${third} was decided, ${second} was due`]);
  fired(fourth, "2026-11-23T10:00:25.000Z");
  run(fourth);
  expect(found()).toContain(`lost: no time is between ${fourth} and 2026-11-23T10:00:25.000Z`);
});
