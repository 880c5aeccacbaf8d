import { describe, expect, test, vi } from "vitest";
import { newCommand } from "#events/envelope.ts";
import { newId, streamName } from "#events/ids.ts";
import { EndSession } from "#events/session.ts";
import { Unavailable, type EventLog } from "#events/ports.ts";
import { createHandler, type HandlerOptions } from "./handle.ts";

const session_id = newId();
const command = (seconds: number) =>
  newCommand(EndSession.type, {
    stream: streamName("session", session_id),
    organization_id: newId(),
    request_id: "test",
    data: { session_id },
    timeout_ms: seconds * 1_000,
  });

function handlerOn(log: Partial<EventLog>, { now, begin }: Pick<HandlerOptions, "begin"> & { now?(): number } = {}) {
  const append = vi.fn<EventLog["append"]>(async () => ({ kind: "committed", first: 0, last: 0, at: new Date() }));
  const hints = { announceCommitted: () => {} };
  const eventLog = { append, heads: async () => new Map(), ...log } as unknown as EventLog;
  return {
    append,
    handle: createHandler({
      log: eventLog,
      ...(now && { now }),
      ...(begin && { begin }),
      hints,
      worker: () => "w",
      afterCommit: () => {},
    }),
  };
}

test("a command that waited behind others of its stream until its deadline is not handled", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const slow = Promise.withResolvers<Awaited<ReturnType<EventLog["heads"]>>>();
  const { append, handle } = handlerOn({ heads: () => slow.promise });

  const [first, second, third] = [handle(command(60)), handle(command(15)), handle(command(60))];
  vi.setSystemTime(Date.now() + 16_000);
  slow.resolve(new Map());
  await expect(first).resolves.toMatchObject({ repeated: false });
  await expect(second).rejects.toThrow(Unavailable);
  await expect(third).resolves.toMatchObject({ repeated: false });
  expect(append).toHaveBeenCalledTimes(2);
  vi.useRealTimers();
});

describe("a command", () => {
  test.each([
    ["that arrives late from a dead http process is not handled", 1_000, false, 0],
    ["that arrives late from a live http process is handled", 1_000, true, 1],
    ["that arrives at once is handled without a look at its http process", 0, false, 1],
  ])("%s", async (_, age, lives, appends) => {
    const { append, handle } = handlerOn({ isAlive: async () => lives });
    const at = new Date(Date.now() - age).toISOString();
    const result = await handle({ ...command(60), at, http: "http-1" });
    expect(append).toHaveBeenCalledTimes(appends);
    expect(result.rejection?.code).toBe(appends === 0 ? "unavailable" : undefined);
  });

  test("whose http process has died while its work began is not handled", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    let released = 0;
    const { append, handle } = handlerOn(
      { isAlive: async () => false },
      {
        async begin(begun) {
          vi.setSystemTime(Date.now() + 400);
          return { command: begun, release: () => void released++ };
        },
      },
    );
    const result = await handle({ ...command(60), http: "http-1" });
    vi.useRealTimers();
    expect([result.rejection?.code, append.mock.calls.length, released]).toEqual(["unavailable", 0, 1]);
  });

  test.each([
    ["of a client is given up when the log has taken nothing for 3.5 s", { age: 3_600, http: "http-1" }, 1],
    ["of a client is tried again before that", { age: 3_000, http: "http-1" }, 2],
    ["of a client that had waited is given up earlier", { age: 1_600, http: "http-1", waited_ms: 2_000 }, 1],
    ["of a client that had waited long is tried for a second", { age: 800, http: "http-1", waited_ms: 4_900 }, 2],
    ["of nobody's request is tried until its deadline", { age: 3_600 }, 2],
  ])("%s", async (_, { age, ...sender }, tries) => {
    const { append, handle } = handlerOn({ isAlive: async () => true });
    append.mockRejectedValueOnce(new Unavailable("no connection"));
    const { rejection } = await handle({ ...command(60), at: new Date(Date.now() - age).toISOString(), ...sender });
    expect(append).toHaveBeenCalledTimes(tries);
    expect(rejection).toEqual(
      tries === 1 ? expect.objectContaining({ code: "unavailable", retryable: true }) : undefined,
    );
  });

  test("that conflicts with another writer is decided again on the new state", async () => {
    const { append, handle } = handlerOn({});
    append.mockResolvedValueOnce({ kind: "conflict" });
    await expect(handle(command(60))).resolves.toMatchObject({ repeated: false });
    expect(append).toHaveBeenCalledTimes(2);
  });

  test("that conflicts until its deadline has an unknown outcome", async () => {
    const { append, handle } = handlerOn({});
    append.mockResolvedValue({ kind: "conflict" });
    await expect(handle(command(0.05))).rejects.toThrow(Unavailable);
  });

  test("that was handled before gets the first result", async () => {
    const { append, handle } = handlerOn({});
    const outcome = { position: 5, fingerprint: null, rejection: null };
    append.mockResolvedValue({ kind: "repeated", outcome });
    await expect(handle(command(60))).resolves.toEqual({ position: 5, repeated: true });
  });

  test("that was handled before with another request body is rejected", async () => {
    const { append, handle } = handlerOn({});
    append.mockResolvedValue({ kind: "repeated", outcome: { position: 5, fingerprint: "one", rejection: null } });
    const result = await handle({ ...command(60), fingerprint: "another" });
    expect(result.rejection?.code).toBe("idempotency_key_reused");
  });
});

test("a command is neither refused nor dropped if the own clock jumps by an hour", async () => {
  const { append, handle } = handlerOn({ isAlive: async () => false }, { now: Date.now });
  vi.useFakeTimers({ toFake: ["Date"] });
  try {
    const sent = { ...command(15), http: "http-1" };
    vi.setSystemTime(Date.now() + 3_600_000);
    await expect(handle(sent)).resolves.toMatchObject({ repeated: false });
  } finally {
    vi.useRealTimers();
  }
  expect(append).toHaveBeenCalledTimes(1);
});
