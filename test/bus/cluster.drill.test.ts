import { afterAll, beforeAll, expect, test } from "vitest";
import type { Answer } from "#events/envelope.ts";
import { newId } from "#events/ids.ts";
import { Unavailable } from "#events/ports.ts";
import { connectBus } from "#infra/nats/connect.ts";
import { namesFor } from "#infra/nats/names.ts";
import { pino } from "pino";
import { testBus, testFolder } from "#test/harness.ts";
import { startNatsCluster, type NatsCluster } from "#test/natsCluster.ts";
import { aBus, aCommand, recording, until, working } from "./bus.ts";
import { lookAt } from "./streams.ts";

const replicas = { limits: { replicas: 3 } };
let cluster: NatsCluster;
beforeAll(async () => {
  cluster = await startNatsCluster(await testFolder());
});
afterAll(() => cluster?.stop());

test("the leader of a stream dies under load: every command is answered, with one effect, and none is refused", {
  timeout: 60_000,
}, async () => {
  const bus = { url: cluster.url, prefix: "cluster", ...replicas };
  const [http, services, others] = [await aBus(bus), await aBus(bus), await aBus(bus)];
  const { rows, handle, outcomes } = recording();
  await working(services, handle);
  await working(others, handle);
  const turn = newId();
  http.frames.publish(turn, turn, { attempt: 1, n: 0, type: "text", text: "kept" });
  await until(async () => (await http.frames.kept(turn, turn)).length === 1);
  const sender = http.sender(outcomes);
  const answers: Answer[] = [];
  let sending = true;
  const clients = Array.from({ length: 8 }, async () => {
    while (sending) answers.push(await sender.send(aCommand()));
  });
  await until(() => answers.length > 200);
  const leader = await cluster.leaderOf(namesFor("cluster").streams.commands);
  await leader.kill();
  const answered = answers.length;
  await until(() => answers.length > answered + 200);
  await leader.start();
  sending = false;
  await Promise.all(clients);
  expect(rows.size).toBe(answers.length);
  expect(new Set(answers.map(({ position }) => position)).size).toBe(answers.length);
  await until(async () => (await http.frames.kept(turn, turn).catch(() => [])).length === 1);
});

test("without a majority commands are refused at their deadline, and taken again when it is back", {
  timeout: 60_000,
}, async () => {
  const bus = { url: cluster.url, prefix: "majority", ...replicas };
  const [http, services] = [await aBus(bus), await aBus(bus)];
  const { handle, outcomes } = recording();
  await working(services, handle);
  const sender = http.sender(outcomes);
  await sender.send(aCommand());
  const gone = cluster.nodes.slice(0, 2);
  await Promise.all(gone.map((node) => node.kill()));
  await expect(sender.send(aCommand({ seconds: 4 }))).rejects.toThrow(Unavailable);
  await Promise.all(gone.map((node) => node.start()));
  expect(await sender.send(aCommand({ seconds: 30 }))).toMatchObject({ repeated: false });
});

test("streams of one server are spread over three when asked for, and stay so when nothing is asked", {
  timeout: 60_000,
}, async () => {
  const bus = { url: cluster.url, prefix: "spread" };
  const looker = await lookAt(bus);
  const replicasNow = async () => {
    const streams = Object.values(looker.names.streams).map((name) => looker.jsm.streams.info(name));
    return (await Promise.all(streams)).map(({ config }) => config.num_replicas);
  };
  await aBus(bus);
  expect(await replicasNow()).toEqual([1, 1, 1, 1, 1]);
  await aBus({ ...bus, ...replicas });
  expect(await replicasNow()).toEqual([3, 3, 3, 3, 3]);
  await aBus(bus);
  expect(await replicasNow()).toEqual([3, 3, 3, 3, 3]);
  await looker.close();
});

test("more replicas than there are servers are refused by name", async () => {
  const log = pino({ level: "silent" });
  const connecting = (url: string, count: number) =>
    connectBus({ url, prefix: testBus().prefix, name: "test", log, limits: { replicas: count } });
  await expect(connecting(testBus().url, 3)).rejects.toThrow(
    /^NATS_REPLICAS is 3, and the stream SVC_BUS_\w+ cannot be kept/,
  );
  await expect(connecting(cluster.url, 5)).rejects.toThrow(/^NATS_REPLICAS is 5, and the stream/);
});

test("replicas of streams that stand on a server without a cluster are refused, and the streams stay as they are", async () => {
  const bus = testBus();
  await (await aBus(bus)).close();
  const looker = await lookAt(bus);
  const asked = connectBus({ ...bus, name: "test", log: pino({ level: "silent" }), ...replicas });
  await expect(asked).rejects.toThrow(/^NATS_REPLICAS is 3, and the stream .+ is in no cluster$/);
  const kept = Object.values(looker.names.streams).map(async (name) => (await looker.jsm.streams.info(name)).config);
  expect((await Promise.all(kept)).map(({ num_replicas }) => num_replicas)).toEqual([1, 1, 1, 1, 1]);
  await looker.close();
});
