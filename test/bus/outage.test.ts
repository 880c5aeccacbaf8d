import { setTimeout as delay } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import type { Answer } from "#events/envelope.ts";
import { newId } from "#events/ids.ts";
import { Unavailable } from "#events/ports.ts";
import { aBus, aCommand, done, noOutcomes, recording, until, working } from "./bus.ts";
import { ownServer } from "./server.ts";
import { lookAt } from "./streams.ts";

const prefix = "outage";
let server: Awaited<ReturnType<typeof ownServer>>;
beforeAll(async () => {
  server = await ownServer();
});

test("the server is killed and started again under load: every command is answered, with one effect", async () => {
  const [http, services] = [await aBus({ ...server, prefix }), await aBus({ ...server, prefix })];
  const { rows, handle, outcomes } = recording();
  await working(services, handle);
  const sender = http.sender(outcomes);
  const answers: Answer[] = [];
  let sending = true;
  const clients = Array.from({ length: 16 }, async () => {
    while (sending) answers.push(await sender.send(aCommand()));
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

test("a command sent while the server is away is handled when it is back", async () => {
  const [http, services] = [await aBus({ ...server, prefix }), await aBus({ ...server, prefix })];
  await working(services, done);
  await server.kill();
  await until(async () => !(await http.health()).connected);
  await expect(http.frames.kept(newId(), newId())).rejects.toThrow(Unavailable);
  const answer = http.sender(noOutcomes).send(aCommand());
  await delay(300);
  await server.start();
  expect(await answer).toEqual({ position: 1, repeated: false });
});

test("the server loses its whole data folder: streams and consumers are made again, without a restart", async () => {
  const [http, services] = [await aBus({ ...server, prefix }), await aBus({ ...server, prefix })];
  const { handle, outcomes } = recording();
  await working(services, handle);
  const reactions: number[] = [];
  const reactor = await services.reactions.consume(async ({ position }) => void reactions.push(position));
  const sender = http.sender(outcomes);
  await sender.send(aCommand());
  await server.kill();
  await server.wipe();
  const meanwhile = sender.send(aCommand());
  await server.start();
  expect((await meanwhile).position).toBe(2);
  expect((await sender.send(aCommand())).position).toBe(3);
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
  await until(async () => (await http.frames.kept(event.organization_id, turn)).length === 1);
  await reactor.stop();
});

test("streams that are deleted under way are made again", async () => {
  const [http, services] = [await aBus({ ...server, prefix }), await aBus({ ...server, prefix })];
  await working(services, done);
  const looker = await lookAt({ ...server, prefix });
  for (const stream of Object.values(looker.names.streams)) await looker.jsm.streams.delete(stream);
  const sender = http.sender(noOutcomes);
  expect(await sender.send(aCommand())).toEqual({ position: 1, repeated: false });
  await looker.jsm.consumers.delete(looker.names.streams.commands, looker.names.durables.commands);
  expect(await sender.send(aCommand())).toEqual({ position: 1, repeated: false });
  await looker.close();
});

test("several processes that start at once agree on the streams", async () => {
  const buses = await Promise.all(Array.from({ length: 6 }, () => aBus({ ...server, prefix: "together" })));
  await working(buses[0]!, done);
  const answers = await Promise.all(buses.map((bus) => bus.sender(noOutcomes).send(aCommand())));
  expect(answers).toHaveLength(6);
  const { server_version, streams } = await buses[5]!.health();
  expect(server_version).toMatch(/^2\./);
  expect(Object.keys(streams)).toHaveLength(5);
  expect(Object.values(streams).every((sizes) => sizes !== undefined)).toBe(true);
});
