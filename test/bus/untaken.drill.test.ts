import { setTimeout as sleep } from "node:timers/promises";
import { jetstream } from "@nats-io/jetstream";
import { expect, test } from "vitest";
import type { CommandOutcome } from "#events/ports.ts";
import { newId } from "#events/ids.ts";
import { testBus } from "#test/harness.ts";
import { newCommand, noOutcomes, noteHandled, openBus, startWorker, succeed, until } from "./bus.ts";
import { openInspector } from "./streams.ts";

/* Commands whose client waits for a 503 rather than for their deadline (docs/adr/0076-a-command-that-nobody-takes-is-given-up.md). */

/** Longer than any test may take: the deadline is not what ends the wait. */
const asked = () => newCommand({ http: newId(), seconds: 600 });
const GIVEN_UP = "No worker takes commands at the moment";

/** A worker that notes what it handles, and then a command that was sent later. */
async function takeLater(bus: Awaited<ReturnType<typeof openBus>>): Promise<string[]> {
  const handled = await noteHandled(bus);
  await bus.sender(noOutcomes).send(newCommand());
  return handled;
}

test("a command that no worker takes is given up, leaves the stream, and is not handled afterwards", async () => {
  const server = testBus();
  const [http, services] = await Promise.all([openBus(server), openBus(server)]);
  const command = asked();
  await expect(http.sender(noOutcomes).send(command)).rejects.toThrow(GIVEN_UP);
  const { streams } = await http.health();
  expect(Object.values(streams).map((size) => size?.messages)).toEqual([0, 0, 0, 0, 0]);
  expect(await takeLater(services)).not.toContain(command.id);
});

test("a command from a command-line tool, such as svc org create, is given up in the same way", async () => {
  const server = testBus();
  const [cli, services] = await Promise.all([openBus(server), openBus(server)]);
  const command = newCommand({ seconds: 600 });
  await expect(cli.sender(noOutcomes).send(command)).rejects.toThrow(GIVEN_UP);
  expect(await takeLater(services)).not.toContain(command.id);
});

test("a command of a request that has already waited is given up sooner than a command of a new request", async () => {
  const bus = await openBus(testBus());
  const given: string[] = [];
  const send = (name: string, waited_ms: number) =>
    expect(bus.sender(noOutcomes).send({ ...asked(), waited_ms }))
      .rejects.toThrow(GIVEN_UP)
      .then(() => given.push(name));
  await Promise.all([send("new", 0), send("waited", 1_500)]);
  expect(given).toEqual(["waited", "new"]);
});

test("a command that a stopped worker took is given up, and dropped by the worker that gets it later", async () => {
  const server = testBus();
  const [http, services, inspector] = [await openBus(server), await openBus(server), await openInspector(server)];
  const { names, nc, jsm } = inspector;
  const command = asked();
  const sent = http.sender(noOutcomes).send(command);
  const refused = expect(sent).rejects.toThrow(GIVEN_UP);
  const consumer = await jetstream(nc).consumers.get(names.streams.commands, names.durables.commands);
  const taken = (await consumer.next({ expires: 3_000 }))!;
  await refused;
  // as if it had stayed in the stream; JetStream would drop it as a repetition of the message with this id
  const { config } = await jsm.streams.info(names.streams.commands);
  await jsm.streams.update(config.name, { ...config, duplicate_window: 100_000_000 });
  await sleep(300);
  nc.publish(taken.subject, taken.data, { headers: taken.headers! });
  await until(async () => (await jsm.streams.info(names.streams.commands)).state.messages > 0);
  expect(await takeLater(services)).not.toContain(command.id);
  await inspector.close();
});

test("a command of a dead worker is given up although JetStream still counts the worker's requests for messages", async () => {
  const server = testBus();
  const [http, inspector] = [await openBus(server), await openInspector(server)];
  const { names, nc } = inspector;
  const consumer = await jetstream(nc).consumers.get(names.streams.commands, names.durables.commands);
  // takes the command without a word, and asks for more
  const dead = await consumer.consume({ max_messages: 10, callback: () => {} });
  await expect(http.sender(noOutcomes).send(asked())).rejects.toThrow(GIVEN_UP);
  dead.stop();
  await inspector.close();
});

test("a command of a dead worker is given up within 5 s although PostgreSQL does not answer meanwhile", async () => {
  const server = testBus();
  const [http, inspector] = [await openBus(server), await openInspector(server)];
  const { names, nc } = inspector;
  const consumer = await jetstream(nc).consumers.get(names.streams.commands, names.durables.commands);
  const dead = await consumer.consume({ max_messages: 10, callback: () => {} });
  const outcome = () => new Promise<never>(() => {});
  const began = performance.now();
  await expect(http.sender({ outcome }, () => true).send(asked())).rejects.toThrow(GIVEN_UP);
  // the looks alone end after 6.3 s
  expect(performance.now() - began).toBeLessThan(5_800);
  dead.stop();
  await inspector.close();
});

test("a command whose outcome PostgreSQL does not answer is given up", async () => {
  const bus = await openBus(testBus());
  const outcome = () => new Promise<never>(() => {});
  await expect(bus.sender({ outcome }).send(asked())).rejects.toThrow("The log cannot be read");
});

test("a command that a worker is handling is waited for, however long it takes", async () => {
  const server = testBus();
  const [http, services] = await Promise.all([openBus(server), openBus(server)]);
  const worker = await startWorker(services, async () => {
    await sleep(7_000);
    return { position: 5, repeated: false };
  });
  const sent = http.sender(noOutcomes).send(asked());
  await sleep(500);
  // it takes nothing more, and finishes what it has
  const stopping = worker.stop();
  expect(await sent).toEqual({ position: 5, repeated: false });
  await stopping;
});

test("a worker that takes a late command asks its sender first, and handles it if the sender still waits", async () => {
  const server = testBus();
  const [http, services] = await Promise.all([openBus(server), openBus(server)]);
  const sent = http.sender(noOutcomes).send(asked());
  await sleep(2_000);
  await startWorker(services, succeed);
  expect(await sent).toEqual({ position: 1, repeated: false });
});

test("a command that is given up returns its outcome if there is one", async () => {
  const bus = await openBus(testBus());
  let reads = 0;
  const found: CommandOutcome = { position: 9, fingerprint: null, rejection: null };
  const outcome = async () => ((reads += 1) > 3 ? found : undefined);
  expect(await bus.sender({ outcome }).send(asked())).toEqual({ position: 9, repeated: true });
});
