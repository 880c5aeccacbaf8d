import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import type { CommandResult } from "#events/envelope.ts";
import { newId } from "#events/ids.ts";
import { Unavailable } from "#events/ports.ts";
import { createGate } from "#infra/postgres/gate.ts";
import { openBus, newCommand, succeed, noOutcomes, createRecorder, until, startWorker } from "./bus.ts";
import { startOwnServer } from "./server.ts";
import { openInspector } from "./streams.ts";

const server = await startOwnServer();

/** Two processes with their own streams: a killed server redelivers messages whose ack it did not get in time. */
const openBuses = (prefix: string) => Promise.all([openBus({ ...server, prefix }), openBus({ ...server, prefix })]);

test("every command has one effect and one answer if the NATS server is killed and restarted under load", async () => {
  const [http, services] = await openBuses("killed");
  const { rows, handle, outcomes } = createRecorder();
  await startWorker(services, handle);
  const sender = http.sender(outcomes);
  const answers: CommandResult[] = [];
  let sending = true;
  const clients = Array.from({ length: 16 }, async () => {
    while (sending) answers.push(await sender.send(newCommand()));
  });
  await until(() => answers.length > 200);
  await server.kill();
  const answered = answers.length;
  await until(async () => !(await http.health()).connected);
  await server.start();
  await until(() => answers.length > answered + 200);
  expect((await http.health()).connected).toBe(true);
  sending = false;
  await Promise.all(clients);
  expect(rows.size).toBe(answers.length);
  expect(new Set(answers.map(({ position }) => position)).size).toBe(answers.length);
});

test("a command sent while the NATS server is down is handled after its restart", async () => {
  const [http, services] = await openBuses("down");
  await startWorker(services, succeed);
  await server.kill();
  await until(async () => !(await http.health()).connected);
  await expect(http.frames.loadFrames(newId(), newId())).rejects.toThrow(Unavailable);
  const answer = http.sender(noOutcomes).send(newCommand());
  await delay(300);
  await server.start();
  expect(await answer).toEqual({ position: 1, repeated: false });
});

test("a command that has been running for long is not given up if the connection is lost for a moment", async () => {
  const [http, services] = await openBuses("moment");
  const { handle, outcomes } = createRecorder();
  await startWorker(services, async (command) => {
    await delay(6_500);
    return handle(command);
  });
  const answer = http.sender(outcomes).send(newCommand({ seconds: 20 }));
  const answered = expect(answer).resolves.toMatchObject({ position: 1 });
  await delay(4_600);
  await server.kill();
  // a look at the outcome falls into it
  await delay(1_200);
  await server.start();
  await answered;
});

test("a worker that waits for the NATS server to return stops at once", async () => {
  const [http, services] = await openBuses("stopped");
  const gate = createGate();
  const worker = await services.source().consume(succeed, gate);
  const { position } = await http.sender(noOutcomes).send(newCommand());
  expect(position).toBe(1);
  await server.kill();
  await until(async () => !(await services.health()).connected);
  // a gate that was closed for a moment, such as that of the clock, makes it ask the server again
  gate.set(false);
  gate.set(true);
  await delay(2_000);
  const stopped = worker.stop().then(() => "stopped");
  expect(await Promise.race([stopped, delay(10_000, "still waiting")])).toBe("stopped");
  await server.start();
});

test("streams and consumers are recreated without a restart of the service if the NATS server loses its data folder", async () => {
  const [http, services] = await openBuses("wiped");
  const { handle, outcomes } = createRecorder();
  await startWorker(services, handle);
  const reactions: number[] = [];
  const reactor = await services.reactions.consume(async ({ position }) => void reactions.push(position));
  const sender = http.sender(outcomes);
  await sender.send(newCommand());
  await server.kill();
  await server.wipe();
  const meanwhile = sender.send(newCommand());
  await server.start();
  expect((await meanwhile).position).toBe(2);
  expect((await sender.send(newCommand())).position).toBe(3);
  const event = {
    type: "Tested",
    stream: `thread-${newId()}`,
    organization_id: newId(),
    position: 4,
    version: 1,
    recorded_at: "2026-01-01T00:00:00.000Z",
    data: {},
  };
  await http.reactions.publish(event);
  await until(() => reactions.length === 1);
  const turn = newId();
  http.frames.publish(event.organization_id, turn, { attempt: 1, n: 0, type: "text", text: "again" });
  await until(async () => (await http.frames.loadFrames(event.organization_id, turn)).length === 1);
  await reactor.stop();
});

test("streams and consumers that are deleted while the service runs are recreated", async () => {
  const [http, services] = await openBuses("deleted");
  await startWorker(services, succeed);
  const inspector = await openInspector({ ...server, prefix: "deleted" });
  for (const stream of Object.values(inspector.names.streams)) await inspector.jsm.streams.delete(stream);
  const sender = http.sender(noOutcomes);
  expect(await sender.send(newCommand())).toEqual({ position: 1, repeated: false });
  await inspector.jsm.consumers.delete(inspector.names.streams.commands, inspector.names.durables.commands);
  expect(await sender.send(newCommand())).toEqual({ position: 1, repeated: false });
  await inspector.close();
});

test("several processes that start at once agree on the streams", async () => {
  const buses = await Promise.all(Array.from({ length: 6 }, () => openBus({ ...server, prefix: "together" })));
  await startWorker(buses[0]!, succeed);
  const answers = await Promise.all(buses.map((bus) => bus.sender(noOutcomes).send(newCommand())));
  expect(answers).toHaveLength(6);
  const { server_version, streams } = await buses[5]!.health();
  expect(server_version).toMatch(/^2\./);
  expect(Object.keys(streams)).toHaveLength(5);
  expect(Object.values(streams).every((sizes) => sizes !== undefined)).toBe(true);
});
