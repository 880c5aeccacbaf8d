import { expect, test } from "vitest";
import { newCommandId, newId } from "#events/ids.ts";
import { testBus } from "#test/harness.ts";
import { openBus, newCommand, succeed, noOutcomes, until, startWorker } from "./bus.ts";
import { openInspector } from "./streams.ts";

test("a command that fails five times becomes a dead letter, and can be replayed", async () => {
  const bus = await openBus(testBus());
  const command = { ...newCommand({ data: { text: "poison" }, seconds: 15 }), http: "http-1" };
  let tries = 0;
  const worker = await startWorker(bus, async () => {
    tries += 1;
    throw new Error("cannot be handled");
  });
  const answer = await bus.sender(noOutcomes).send(command);
  expect(answer.rejection).toMatchObject({ code: "internal", retryable: true });
  expect(tries).toBe(5);
  const [letter] = await bus.deadLetters.list(10);
  expect(letter).toMatchObject({ reason: "failed too often", command });
  expect(letter!.error).toContain("cannot be handled");

  await worker.stop();
  const handled: unknown[] = [];
  await startWorker(bus, async ({ id, data, http }) => {
    handled.push({ id, data, http });
    return succeed();
  });
  expect(await bus.deadLetters.replay(letter!.seq)).toBe(true);
  await until(() => handled.length > 0);
  // nobody waits for it: it is not given up because the process that sent it is gone
  expect(handled).toEqual([{ id: command.id, data: command.data, http: undefined }]);
  expect(await bus.deadLetters.list(10)).toEqual([]);
  expect(await bus.deadLetters.replay(letter!.seq)).toBe(false);
});

test("a message that cannot be decoded becomes a dead letter at once, and does not delay others", async () => {
  const server = testBus();
  const bus = await openBus(server);
  await startWorker(bus, succeed);
  const inspector = await openInspector(server);
  for (const text of ["{ no json", "null", JSON.stringify({ id: 7 })]) {
    inspector.nc.publish(inspector.names.command({ organization_id: newId(), stream: `thread-${newId()}` }), text);
  }
  await inspector.nc.flush();
  expect(await bus.sender(noOutcomes).send(newCommand())).toEqual({ position: 1, repeated: false });
  await until(async () => (await bus.deadLetters.list(10)).length === 3);
  const letters = await bus.deadLetters.list(2);
  expect(letters.map(({ reason, command }) => ({ reason, command }))).toEqual([
    { reason: "undecodable", command: "{ no json" },
    { reason: "undecodable", command: null },
  ]);
  expect(await bus.deadLetters.remove(letters[0]!.seq)).toBe(true);
  expect(await bus.deadLetters.remove(letters[0]!.seq)).toBe(false);
  expect(await bus.deadLetters.list(10)).toHaveLength(2);
  await inspector.close();
});

test("a reaction that fails is retried, and becomes a dead letter like a command", async () => {
  const bus = await openBus(testBus());
  const event = {
    type: "TurnStarted",
    stream: `thread-${newId()}`,
    organization_id: newId(),
    position: 5,
    version: 1,
    recorded_at: "2026-01-01T00:00:00.000Z",
    data: { turn: newCommandId() },
  };
  const seen: unknown[] = [];
  const worker = await bus.reactions.consume(async (wake) => {
    seen.push(wake);
    if (wake.position === 6) throw new Error("never");
    if (seen.length < 2) throw new Error("at first");
  });
  await bus.reactions.publish(event);
  await bus.reactions.publish(event);
  await until(() => seen.length === 2);
  expect(seen).toEqual([event, event]);
  await bus.reactions.publish({ ...event, position: 6 });
  await until(async () => (await bus.deadLetters.list(1)).length === 1);
  expect(seen).toHaveLength(7);
  await worker.stop();
});
