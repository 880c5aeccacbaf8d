import { afterAll, expect, test } from "vitest";
import type { CommandResult } from "#events/envelope.ts";
import { newId } from "#events/ids.ts";
import { Unavailable } from "#events/ports.ts";
import { connectBus } from "#infra/nats/connect.ts";
import { namesFor } from "#infra/nats/names.ts";
import { pino } from "pino";
import { testBus, testFolder } from "#test/harness.ts";
import { startNatsCluster } from "#test/natsCluster.ts";
import { openBus, newCommand, createRecorder, sendUntilTaken, until, startWorker } from "./bus.ts";
import { openInspector } from "./streams.ts";

const replicas = { limits: { replicas: 3 } };
const cluster = await startNatsCluster(await testFolder());
afterAll(() => cluster?.stop());

test("every command has one effect and one answer if a stream's leader dies under load", {
  timeout: 60_000,
}, async () => {
  const bus = { url: cluster.url, prefix: "cluster", ...replicas };
  const [http, services, others] = [await openBus(bus), await openBus(bus), await openBus(bus)];
  const { rows, handle, outcomes } = createRecorder();
  await startWorker(services, handle);
  await startWorker(others, handle);
  const turn = newId();
  http.frames.publish(turn, turn, { attempt: 1, n: 0, type: "text", text: "kept" });
  await until(async () => (await http.frames.loadFrames(turn, turn)).length === 1);
  const sender = http.sender(outcomes);
  const answers: CommandResult[] = [];
  let sending = true;
  const clients = Array.from({ length: 8 }, async () => {
    while (sending) answers.push(await sendUntilTaken(sender, newCommand()));
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
  await until(async () => (await http.frames.loadFrames(turn, turn).catch(() => [])).length === 1);
});

test("a cluster without a majority refuses commands at their deadline, and accepts them again after it recovers", {
  timeout: 60_000,
}, async () => {
  const bus = { url: cluster.url, prefix: "majority", ...replicas };
  const [http, services] = [await openBus(bus), await openBus(bus)];
  const { handle, outcomes } = createRecorder();
  await startWorker(services, handle);
  const sender = http.sender(outcomes);
  await sender.send(newCommand());
  const gone = cluster.nodes.slice(0, 2);
  await Promise.all(gone.map((node) => node.kill()));
  await expect(sender.send(newCommand({ seconds: 4 }))).rejects.toThrow(Unavailable);
  await Promise.all(gone.map((node) => node.start()));
  expect(await sendUntilTaken(sender, newCommand())).toMatchObject({ repeated: false });
});

test("NATS_REPLICAS replicates the streams of one server to three, and they stay replicated when it is unset", {
  timeout: 60_000,
}, async () => {
  const bus = { url: cluster.url, prefix: "spread" };
  const inspector = await openInspector(bus);
  const replicasNow = async () => {
    const streams = Object.values(inspector.names.streams).map((name) => inspector.jsm.streams.info(name));
    return (await Promise.all(streams)).map(({ config }) => config.num_replicas);
  };
  await openBus(bus);
  expect(await replicasNow()).toEqual([1, 1, 1, 1, 1]);
  await openBus({ ...bus, ...replicas });
  expect(await replicasNow()).toEqual([3, 3, 3, 3, 3]);
  await openBus(bus);
  expect(await replicasNow()).toEqual([3, 3, 3, 3, 3]);
  await inspector.close();
});

test("a bus with more replicas than the cluster has servers does not start, and the error names the setting", async () => {
  const log = pino({ level: "silent" });
  const connecting = (url: string, count: number) =>
    connectBus({ url, prefix: testBus().prefix, name: "test", log, limits: { replicas: count } });
  await expect(connecting(testBus().url, 3)).rejects.toThrow(
    /^NATS_REPLICAS is 3, and the stream SVC_BUS_\w+ cannot be stored/,
  );
  await expect(connecting(cluster.url, 5)).rejects.toThrow(/^NATS_REPLICAS is 5, and the stream/);
});

test("a bus with replicas on a server without a cluster does not start, and leaves existing streams unchanged", async () => {
  const bus = testBus();
  await (await openBus(bus)).close();
  const inspector = await openInspector(bus);
  const connecting = connectBus({ ...bus, name: "test", log: pino({ level: "silent" }), ...replicas });
  await expect(connecting).rejects.toThrow(/^NATS_REPLICAS is 3, and the stream .+ is in no cluster$/);
  const kept = Object.values(inspector.names.streams).map(
    async (name) => (await inspector.jsm.streams.info(name)).config,
  );
  expect((await Promise.all(kept)).map(({ num_replicas }) => num_replicas)).toEqual([1, 1, 1, 1, 1]);
  await inspector.close();
});
