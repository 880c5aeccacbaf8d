import { expect, test, vi } from "vitest";
import { newCommandId, newId, streamOf } from "#events/ids.ts";
import { EndSession } from "#events/session.ts";
import { Unavailable, type EventLog } from "#events/ports.ts";
import { createHandler } from "./handle.ts";

const stream = streamOf("session", newId());
const command = (seconds: number) => ({
  id: newCommandId(),
  type: EndSession.type,
  stream,
  organization_id: newId(),
  principal: "system" as const,
  at: new Date().toISOString(),
  deadline: new Date(Date.now() + seconds * 1_000).toISOString(),
  request_id: "test",
  data: { session_id: stream.slice("session-".length) },
});

test("a command that waited behind others of its stream until its deadline is not handled any more", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const append = vi.fn<EventLog["append"]>(async () => ({ kind: "committed", first: 0, last: 0, at: new Date() }));
  const slow = Promise.withResolvers<Awaited<ReturnType<EventLog["heads"]>>>();
  const log = { append, heads: () => slow.promise } as unknown as EventLog;
  const handle = createHandler({ log, hints: { committed: () => {} }, worker: () => "w", afterCommit: () => {} });

  const [first, second, third] = [handle(command(60)), handle(command(15)), handle(command(60))];
  vi.setSystemTime(Date.now() + 16_000);
  slow.resolve(new Map());
  await expect(first).resolves.toMatchObject({ repeated: false });
  await expect(second).rejects.toThrow(Unavailable);
  await expect(third).resolves.toMatchObject({ repeated: false });
  expect(append).toHaveBeenCalledTimes(2);
  vi.useRealTimers();
});

test.each([
  ["held up, of a process that is gone, is not handled", 1_000, false, 0],
  ["held up, of a process that lives, is handled", 1_000, true, 1],
  ["that comes at once is handled without asking who lives", 0, false, 1],
])("a command %s", async (_, age, lives, appends) => {
  const append = vi.fn<EventLog["append"]>(async () => ({ kind: "committed", first: 0, last: 0, at: new Date() }));
  const log = { append, heads: async () => new Map(), alive: async () => lives } as unknown as EventLog;
  const handle = createHandler({ log, hints: { committed: () => {} }, worker: () => "w", afterCommit: () => {} });
  const answer = await handle({ ...command(60), at: new Date(Date.now() - age).toISOString(), http: "http-1" });
  expect(append).toHaveBeenCalledTimes(appends);
  expect(answer.rejection?.code).toBe(appends === 0 ? "unavailable" : undefined);
});
