import { cp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { jetstream } from "@nats-io/jetstream";
import { namesFor } from "#infra/nats/names.ts";
import { newId } from "#events/ids.ts";
import { newCommand, noOutcomes, openBus, startWorker, succeed, until } from "./bus.ts";
import { startOwnServer } from "./server.ts";
import { openInspector } from "./streams.ts";

/*
 * A power cut drops what the server had not synced: a stream comes back older than its consumers, which are smaller files. A recent
 * server notices it when it starts; an older one needs us (infra/nats/healing.test.ts).
 */
const WAYS = [[], ["consumer_ahead"], ["consumer_stranded"]];
const waysOf = (repairs: string[]) => [...new Set(repairs)];

const server = await startOwnServer();

const folderOf = (stream: string) => join(server.store, "jetstream", "$G", "streams", stream, "msgs");

/** Stops the server, runs a change of its files, and starts it again. */
async function whileDown(change: () => Promise<void>) {
  await server.kill();
  await change();
  await server.start();
}

const copyMessages = (stream: string, to: string) => cp(folderOf(stream), to, { recursive: true });
async function restoreMessages(stream: string, from: string) {
  await rm(folderOf(stream), { recursive: true });
  await cp(from, folderOf(stream), { recursive: true });
}

async function openBoth(prefix: string) {
  const [http, services] = [await openBus({ ...server, prefix }), await openBus({ ...server, prefix })];
  const repairs: string[] = [];
  http.faults.onHealed((fault) => repairs.push(fault));
  return { http, services, repairs, names: namesFor(prefix) };
}

test("commands are delivered after the command stream was restored to an earlier state than its consumer", async () => {
  const { http, services, repairs, names } = await openBoth("rollback");
  await startWorker(services, succeed);
  const sender = http.sender(noOutcomes);
  const copy = join(server.store, "..", "commands");
  await sender.send(newCommand());
  await whileDown(() => copyMessages(names.streams.commands, copy));
  for (let n = 0; n < 50; n++) await sender.send(newCommand());
  const inspector = await openInspector({ ...server, prefix: "rollback" });
  const consumer = () => inspector.jsm.consumers.info(names.streams.commands, names.durables.commands);
  // not by number: a server that was killed may count from the start again when its stream was empty
  await until(async () => {
    const { num_pending, num_ack_pending } = await consumer();
    return num_pending + num_ack_pending === 0;
  });
  // the server writes the consumer's state once a second
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  await whileDown(() => restoreMessages(names.streams.commands, copy));
  expect(await sender.send(newCommand({ seconds: 30 }))).toEqual({ position: 1, repeated: false });
  expect(WAYS).toContainEqual(waysOf(repairs));
  await inspector.close();
});

test("commands are delivered after the stream was recreated while its consumer's state was kept", async () => {
  const { http, services, repairs, names } = await openBoth("recreated");
  await startWorker(services, succeed);
  const sender = http.sender(noOutcomes);
  for (let n = 0; n < 30; n++) await sender.send(newCommand());
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  await whileDown(() => rm(folderOf(names.streams.commands), { recursive: true }));
  const answers = await Promise.all(Array.from({ length: 5 }, () => sender.send(newCommand({ seconds: 30 }))));
  expect(answers).toEqual(answers.map(() => ({ position: 1, repeated: false })));
  expect(WAYS).toContainEqual(waysOf(repairs));
});

test("commands are delivered although the server cannot read their consumer's file, also after its next start", async () => {
  const { http, services, repairs, names } = await openBoth("unreadable");
  await startWorker(services, succeed);
  const sender = http.sender(noOutcomes);
  await sender.send(newCommand());
  const inspector = await openInspector({ ...server, prefix: "unreadable" });
  // the server writes the consumer's state once a second
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const file = join(folderOf(names.streams.commands), "..", "obs", names.durables.commands, "o.dat");
  await whileDown(() => writeFile(file, Buffer.alloc(12)));
  expect(await sender.send(newCommand({ seconds: 30 }))).toEqual({ position: 1, repeated: false });
  await whileDown(async () => {});
  expect(await sender.send(newCommand({ seconds: 30 }))).toEqual({ position: 1, repeated: false });
  const { jsm } = inspector;
  const isInMemory = async () =>
    (await jsm.consumers.info(names.streams.commands, names.durables.commands)).config.mem_storage === true;
  expect(await isInMemory()).toBe(true);
  // created once more, now that all are connected: who connects again may miss a report
  await jsm.consumers.delete(names.streams.commands, names.durables.commands);
  await until(() => repairs.length > 0);
  expect(waysOf(repairs)).toEqual(["consumer_unreadable"]);
  // what docs/alerts.md advises
  await whileDown(() => rm(join(file, ".."), { recursive: true }));
  expect(await sender.send(newCommand({ seconds: 30 }))).toEqual({ position: 1, repeated: false });
  expect(await isInMemory()).toBe(false);
  await inspector.close();
});

test("reactions and a feed subscriber's own consumer are delivered after their streams were restored to an earlier state", async () => {
  const { http, services, repairs, names } = await openBoth("others");
  const reactions: number[] = [];
  const reactor = await services.reactions.consume(async ({ position }) => void reactions.push(position));
  const inspector = await openInspector({ ...server, prefix: "others" });
  await inspector.jsm.consumers.add(names.streams.events, { durable_name: "subscriber", ack_policy: "explicit" });
  const subscriber = await jetstream(inspector.nc).consumers.get(names.streams.events, "subscriber");
  const event = (position: number) => ({
    type: "Tested",
    stream: `thread-${newId()}`,
    organization_id: newId(),
    position,
    version: 1,
    recorded_at: "2026-01-01T00:00:00.000Z",
    schema_version: 1,
    data: {},
  });
  const publishBoth = async (position: number) => {
    await http.reactions.publish(event(position));
    await http.feed.last();
    await http.feed.publish([{ event: event(position), traceparent: undefined }]);
    const message = await subscriber.next({ expires: 30_000 });
    await message?.ackAck();
    return message?.json<{ position: number }>().position;
  };
  for (let n = 1; n <= 20; n++) expect(await publishBoth(n)).toBe(n);
  await until(() => reactions.length === 20);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  await whileDown(async () => {
    await rm(folderOf(names.streams.reactions), { recursive: true });
    await rm(folderOf(names.streams.events), { recursive: true });
  });
  const isBack = () =>
    http.feed.last().then(
      () => true,
      () => false,
    );
  await until(isBack);
  expect(await publishBoth(21)).toBe(21);
  await until(() => reactions.includes(21));
  expect(WAYS).toContainEqual(waysOf(repairs));
  await reactor.stop();
  await inspector.close();
});

test("a delivery check passes while a worker takes commands, and reports the problem if no worker does", async () => {
  const { http, services } = await openBoth("canary");
  await expect(http.checkDelivery()).rejects.toThrow("no services process takes commands");
  await startWorker(services, succeed);
  await http.checkDelivery();
  const { streams } = await http.health();
  await until(async () => Object.values((await http.health()).streams).every((size) => size?.messages === 0));
  expect(Object.keys(streams)).toHaveLength(5);
});
