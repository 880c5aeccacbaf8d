import { beforeEach, expect, test, vi } from "vitest";
import { newCommand, type Command } from "#events/envelope.ts";
import { newId, streamName } from "#events/ids.ts";
import { CloseMessage } from "#events/message.ts";
import type { EventLog, StreamHead } from "#events/ports.ts";
import { EndSession, StartSession } from "#events/session.ts";
import { FireSchedule, RecordScheduledRun, ScheduleCreated } from "#events/schedule.ts";
import { trigger as decider } from "./deciders/trigger.ts";
import { createHandler, type CommittedCommand } from "./handle.ts";

const organization_id = newId();
const trigger_id = newId();
const session_id = newId();
const stream = streamName("trigger", trigger_id);
const due_at = new Date(Date.now() - 1_000).toISOString();
const schedule = ScheduleCreated.of(
  {
    trigger_id,
    workflow_id: newId(),
    run_as: null,
    rule: { at: due_at },
    jitter_seconds: 0,
    overlap: "skip",
    missed: "one",
    next: { due_at, fires_at: due_at },
  },
  { name: "", args: "{}" },
);
const create = (type: string, to: string, data: object, joined?: Command[]): Command =>
  newCommand(type, {
    stream: to,
    organization_id,
    request_id: "r",
    timeout_ms: 1_000,
    data,
    ...(joined && { joined }),
  });
const fire = (more: object = {}) => create(FireSchedule.type, stream, { trigger_id, due_at, overlaps: false, ...more });
const record = (at = due_at) => create(RecordScheduledRun.type, stream, { trigger_id, due_at: at, refusal: null });
/** A session that a person starts: any command that appends an event. */
const start = (...joined: Command[]) => {
  const data = { session_id, user_id: newId(), token_hash: "h", expires_at: due_at, epoch: 1 };
  return create(StartSession.type, streamName("session", session_id), data, joined);
};

let head: StreamHead;
let heads: ReturnType<typeof vi.fn<EventLog["heads"]>>;
let append: ReturnType<typeof vi.fn<EventLog["append"]>>;
let committed: CommittedCommand[];
let handle: ReturnType<typeof createHandler>;
beforeEach(() => {
  const state = decider.evolve(decider.initial, schedule);
  const work = decider.workStatus!(state);
  head = { stream, organization_id, version: 1, position: 1, state, state_version: decider.version, ...work };
  heads = vi.fn(async (streams: string[]) => new Map(streams.includes(stream) ? [[stream, head]] : []));
  append = vi.fn(async () => ({ kind: "committed" as const, first: 2, last: 4, at: new Date() }));
  committed = [];
  handle = createHandler({
    log: { append, heads, outcome: async () => undefined } as unknown as EventLog,
    hints: { announceCommitted() {} },
    worker: () => "w",
    afterCommit: (one) => void committed.push(one),
  });
});
const appended = (call = 0) => append.mock.calls[call]![0];

/** The log has the trigger, and these states of other streams. */
const logHas = (states: Record<string, object>) =>
  heads.mockImplementation(
    async (streams) =>
      new Map(
        streams.flatMap((name): [string, StreamHead][] => {
          if (name === stream) return [[name, head]];
          return name in states ? [[name, { ...head, stream: name, state: states[name], state_version: 1 }]] : [];
        }),
      ),
  );

test("a command and those that are joined to it are one append, with one head for each stream", async () => {
  expect(await handle(start(fire(), record()))).toEqual({ position: 4, repeated: false });
  expect(append).toHaveBeenCalledTimes(1);
  expect(appended().events.map(({ event, version }) => [event.type, version])).toEqual([
    ["SessionStarted", 1],
    ["ScheduleFired", 2],
    ["ScheduledRunStarted", 3],
  ]);
  expect(appended().heads.map((one) => one.stream)).toEqual([streamName("session", session_id), stream]);
  expect(appended().heads[1]).toMatchObject({ status: null, state: { schedule: { version: 3, starting: null } } });
  expect(committed.map(({ command, version }) => [command.type, version])).toEqual([
    [StartSession.type, 1],
    [FireSchedule.type, 2],
    [RecordScheduledRun.type, 3],
  ]);
});

test("no process gets the lease of a start that its commit records as done", async () => {
  await handle(start(fire(), record()));
  expect(appended().events[1]!.event.data).toMatchObject({ action: "start", worker: null });
});

test.each<[string, () => Command[]]>([
  ["is meant for another version", () => [fire({ seen: 2 }), record()]],
  ["names another due time", () => [fire(), record(new Date().toISOString())]],
  [
    "is refused",
    () => [create(FireSchedule.type, streamName("trigger", newId()), { trigger_id, due_at, overlaps: false })],
  ],
])("where a joined command %s, nothing is appended and no outcome recorded", async (_, joined) => {
  const { rejection } = await handle(start(...joined()));
  expect(rejection).toMatchObject({ code: "joined_command_refused", retryable: true });
  expect(append).not.toHaveBeenCalled();
  expect(committed).toEqual([]);
});

test("a refused command takes its joined commands with it", async () => {
  append.mockResolvedValueOnce({ kind: "committed", first: 0, last: 0, at: new Date() });
  heads.mockImplementation(
    async (streams) =>
      new Map(streams.map((name) => [name, { ...head, stream: name, state: { status: "open" }, state_version: 1 }])),
  );
  const { rejection } = await handle(start(fire(), record()));
  expect(rejection?.code).toBe("session_exists");
  expect(appended().events).toEqual([]);
});

test("a conflict in a joined stream is decided again, on its new state", async () => {
  append.mockResolvedValueOnce({ kind: "conflict" });
  await handle(start(fire()));
  expect(append).toHaveBeenCalledTimes(2);
  const ofTrigger = heads.mock.calls.filter(([streams]) => streams.includes(stream));
  expect(ofTrigger).toHaveLength(2);
});

test("a remembered state of a joined stream is read again before the command is refused", async () => {
  await handle(start(fire(), record()));
  logHas({ [streamName("session", session_id)]: { status: "open" } });
  // this process remembers version 3, and the log has version 1
  const end = create(EndSession.type, streamName("session", session_id), { session_id }, [fire(), record()]);
  expect(await handle(end)).toEqual({ position: 4, repeated: false });
  expect(appended(1).events.at(-1)).toMatchObject({ version: 3, event: { type: "ScheduledRunStarted" } });
});

test("a command that claims or destroys something cannot be joined", async () => {
  const remove = create("DeleteTrigger", stream, { trigger_id });
  await expect(handle(start(remove))).rejects.toThrow("cannot be joined");
  expect(append).not.toHaveBeenCalled();
});

const message_id = newId();
const message = streamName("message", message_id);
const close = create(CloseMessage.type, message, { message_id, reached: 1 });

test("a joined command may destroy what no hold covers", async () => {
  logHas({ [message]: { status: "posted" } });
  expect(await handle(start(close))).toEqual({ position: 4, repeated: false });
  expect(appended().events.map(({ event }) => event.type)).toEqual(["SessionStarted", "MessageDelivered"]);
  expect(appended().erase).toEqual({ things: [message], streams: [] });
});

test("a command that has no effect takes its joined commands with it", async () => {
  const session = streamName("session", session_id);
  logHas({ [message]: { status: "posted" }, [session]: { status: "ended" } });
  const { rejection } = await handle(create(EndSession.type, session, { session_id }, [close]));
  expect(rejection).toMatchObject({ code: "joined_command_refused", retryable: true });
  expect(append).not.toHaveBeenCalled();
});
