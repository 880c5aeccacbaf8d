import { expect, test, vi } from "vitest";
import type { Command } from "#events/envelope.ts";
import { newId, parseStreamName, streamName } from "#events/ids.ts";
import type { StreamHead } from "#events/ports.ts";
import {
  FireSchedule,
  ScheduleCreated,
  ScheduledRunRefused,
  ScheduledRunStarted,
  ScheduleFired,
} from "#events/schedule.ts";
import { run as runDecider } from "../deciders/run.ts";
import { trigger as decider, type TriggerState } from "../deciders/trigger.ts";
import type { CommittedCommand } from "../handle.ts";
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

/** Limits that the organization `full` has reached. */
const limits = (full = { organization: "" }) => ({
  freeSpace: { isRefused: () => false },
  logLimits: {
    refusal: (organization: string) =>
      organization === full.organization ? { code: "storage_limit_reached", message: "Full." } : undefined,
  },
});

/** Schedules of a process whose look-ups get no answer. */
function openStuck() {
  const heads = vi.fn(() => new Promise<never>(() => {}));
  const deps = { log: { heads }, worker: "w", onError() {}, ...limits() };
  const { resumeWork, busy } = createSchedules(deps as any);
  return { heads, resumeWork, busy };
}

test("a sweep does not wait for a start that takes long, and does not begin it twice", async () => {
  const { heads, resumeWork, busy } = openStuck();
  const head = dueSchedule("o1");
  await resumeWork(head);
  await resumeWork(head);
  expect(heads).toHaveBeenCalledTimes(1);
  expect(busy()).toEqual([head.stream]);
});

test("due times of one organization leave room for those of another", async () => {
  const { heads, resumeWork } = openStuck();
  await Promise.all(Array.from({ length: 300 }, () => resumeWork(dueSchedule("o1"))));
  const ofOne = heads.mock.calls.length;
  expect(ofOne).toBeLessThan(256);
  await resumeWork(dueSchedule("o2"));
  expect(heads).toHaveBeenCalledTimes(ofOne + 1);
});

/** A schedule whose last due time waits, in this process, for the run of the previous one. */
function queuedSchedule(organization_id: string) {
  const head = dueSchedule(organization_id);
  const trigger_id = parseStreamName(head.stream).id;
  const fired = { trigger_id, due_at, action: "queue" as const, cancels: null, next: null, epoch: 1, worker: "w" };
  const started = ScheduledRunStarted.of({ trigger_id, due_at, run_id: RUN });
  const events = [started, ScheduleFired.of(fired)];
  const state = events.reduce((before, event) => decider.evolve(before, event as never), head.state as TriggerState);
  return { committed: { command: head, events: events.slice(1) }, head: { ...head, state } };
}
const RUN = newId();
const LIVE_RUN = { stream: streamName("run", RUN), state: { status: "running" }, state_version: runDecider.version };

test("schedules that wait in the queues of two organizations leave room for due times and starts of a third one, and for their own due times", async () => {
  const heads = new Map<string, object>([[LIVE_RUN.stream, LIVE_RUN]]);
  const fired: string[] = [];
  const { resumeWork, afterCommit, hasRoom, stop } = createSchedules({
    worker: "w",
    log: {
      heads: async ([stream]: string[]) => new Map(heads.has(stream!) ? [[stream, heads.get(stream!)]] : []),
      event: async () => undefined,
    },
    ...limits(),
    handle: async ({ type, organization_id }: Command) => {
      if (type === FireSchedule.type) fired.push(organization_id);
      return {};
    },
    onError: (error: unknown) => expect.fail(String(error)),
  } as any);
  for (const organization of ["o1", "o2"])
    for (let n = 0; n < 1_000; n++) {
      const { committed, head } = queuedSchedule(organization);
      heads.set(head.stream, head);
      afterCommit(committed as unknown as CommittedCommand);
    }
  for (const organization of ["o3", "o1"]) {
    const due = dueSchedule(organization);
    heads.set(due.stream, due);
    await resumeWork(due);
  }
  expect(fired).toEqual(["o3", "o1"]);
  expect(["o1", "o2", "o3"].map(hasRoom)).toEqual([false, false, true]);
  await stop();
});

/** A schedule that is due again after its last due time, with what became of that one. */
function dueAgain(organization_id: string, action: "start" | "skip", refusal?: string) {
  const head = dueSchedule(organization_id);
  const trigger_id = parseStreamName(head.stream).id;
  const next = { due_at, fires_at: due_at };
  const fired = { trigger_id, due_at, action, cancels: null, next, epoch: 1, worker: "w" };
  const events = [ScheduleFired.of(fired)] as { type: string }[];
  if (refusal) events.push(ScheduledRunRefused.of({ trigger_id, due_at, code: refusal }, { message: "" }));
  const state = events.reduce((before, event) => decider.evolve(before, event as never), head.state as TriggerState);
  return { ...head, state, version: 1 + events.length };
}

test("while a limit lets no run of an organization start, a schedule records that once, and makes up for nothing afterwards", async () => {
  const full = { organization: "full" };
  const heads = new Map<string, object>();
  const fired: { trigger_id: string; limited?: boolean }[] = [];
  const { resumeWork, stop } = createSchedules({
    worker: "w",
    log: {
      heads: async ([stream]: string[]) => new Map(heads.has(stream!) ? [[stream, heads.get(stream!)]] : []),
      event: async () => undefined,
    },
    ...limits(full),
    handle: async ({ type, data }: Command) => {
      if (type === FireSchedule.type) fired.push(data as { trigger_id: string });
      return {};
    },
    onError: (error: unknown) => expect.fail(String(error)),
  } as any);
  const due = [
    dueAgain("full", "start", "storage_limit_reached"),
    dueAgain("full", "skip"),
    dueAgain("full", "start", "invalid_args"),
    dueAgain("other", "start", "storage_limit_reached"),
  ];
  for (const head of due) heads.set(head.stream, head);
  const idOf = ({ stream }: { stream: string }) => parseStreamName(stream).id;
  const resumeAll = async () => {
    fired.length = 0;
    for (const head of due) await resumeWork(head);
    return fired.map(({ trigger_id, limited }) => [trigger_id, limited]);
  };
  const [refused, skipped, otherwise, elsewhere] = due.map(idOf);
  expect(await resumeAll()).toEqual([
    [otherwise, true],
    [elsewhere, true],
  ]);
  full.organization = "";
  expect(await resumeAll()).toEqual([
    [refused, true],
    [skipped, true],
    [otherwise, true],
    [elsewhere, true],
  ]);
  await stop();
});
