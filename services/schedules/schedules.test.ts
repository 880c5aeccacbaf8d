import { expect, test, vi } from "vitest";
import { newId, streamName } from "#events/ids.ts";
import type { StreamHead } from "#events/ports.ts";
import { ScheduleCreated } from "#events/schedule.ts";
import { trigger as decider } from "../deciders/trigger.ts";
import { createSchedules } from "./schedules.ts";

const due_at = new Date(Date.now() - 1_000).toISOString();

function dueSchedule(organization_id: string): StreamHead {
  const trigger_id = newId();
  const rule = { rule: { at: due_at }, jitter_seconds: 0, overlap: "skip" as const, missed: "one" as const };
  const settings = { trigger_id, workflow_id: newId(), run_as: null, ...rule, next: { due_at, fires_at: due_at } };
  const state = decider.evolve(decider.initial, ScheduleCreated.of(settings, { name: "", args: "{}" }));
  const stream = streamName("trigger", trigger_id);
  const position = { version: 1, position: 1, state_version: decider.version };
  return { stream, organization_id, state, ...position, ...decider.workStatus!(state) };
}

/** Schedules of a process whose look-ups get no answer. */
function openStuck() {
  const heads = vi.fn(() => new Promise<never>(() => {}));
  const { attend, busy } = createSchedules({ log: { heads }, worker: "w", onError() {} } as any);
  return { heads, attend, busy };
}

test("a sweep does not wait for a start that takes long, and does not begin it twice", async () => {
  const { heads, attend, busy } = openStuck();
  const head = dueSchedule("o1");
  await attend(head);
  await attend(head);
  expect(heads).toHaveBeenCalledTimes(1);
  expect(busy()).toEqual([head.stream]);
});

test("due times of one organization leave room for those of another", async () => {
  const { heads, attend } = openStuck();
  await Promise.all(Array.from({ length: 300 }, () => attend(dueSchedule("o1"))));
  const ofOne = heads.mock.calls.length;
  expect(ofOne).toBeLessThan(256);
  await attend(dueSchedule("o2"));
  expect(heads).toHaveBeenCalledTimes(ofOne + 1);
});
