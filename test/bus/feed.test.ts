import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { jetstream } from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import { describe, expect, test, vi } from "vitest";
import { newId, streamName } from "#events/ids.ts";
import { Unavailable } from "#events/ports.ts";
import { publishedTypes } from "#events/published.ts";
import { clientOf } from "../http/service.ts";
import type { FeedMessage } from "#infra/nats/feed.ts";
import { freePort } from "#infra/embedded/freePort.ts";
import { openPool } from "#infra/postgres/pool.ts";
import type { Resources } from "../../roles/resources.ts";
import { testBus } from "../harness.ts";
import { startPlatform, testDeployment } from "../platform.ts";
import { feedEvent } from "../samples.ts";
import { openBus } from "./bus.ts";
import { startOwnServer } from "./server.ts";
import { openInspector, removeStreams, readFeed } from "./streams.ts";

const organization_id = newId();
const stream = streamName("run", newId());
const event = (position: number) => feedEvent(position, { stream, version: position, organization_id });
const events = (from: number, to: number): FeedMessage[] =>
  Array.from({ length: to - from + 1 }, (_, n) => ({ event: event(from + n) }));

describe("the feed", () => {
  test("keeps the order, and drops events that are published again", async () => {
    const bus = testBus();
    const { feed } = await openBus(bus);
    await feed.publish(events(1, 300));
    await feed.publish(events(200, 400));
    expect((await readFeed(bus)).map(({ position }) => position)).toEqual(
      events(1, 400).map((one) => one.event.position),
    );
  });
  test("delivers new events at positions that were assigned before the log was restored", async () => {
    const bus = testBus();
    const { feed } = await openBus(bus);
    await feed.publish(events(1, 5));
    const restored = events(3, 6).map(({ event }) => ({
      event: { ...event, recorded_at: "2026-01-01T00:00:01.000Z" },
    }));
    await feed.publish(restored);
    expect((await readFeed(bus)).map(({ position }) => position)).toEqual([1, 2, 3, 4, 5, 3, 4, 5, 6]);
  });
  test("accepts no event after a refused one", async () => {
    const bus = testBus();
    const { feed } = await openBus(bus);
    const broken = { ...event(3), type: "not fit for a subject" };
    await expect(feed.publish([...events(1, 2), { event: broken }, ...events(4, 4)])).rejects.toThrow();
    await feed.publish(events(1, 4));
    expect((await readFeed(bus)).map(({ position }) => position)).toEqual([1, 2, 3, 4]);
  });
});

test("the feed detects within seconds that its stream gets its first consumer or loses its last", async () => {
  const bus = testBus();
  const { feed } = await openBus(bus);
  expect(feed.hasConsumers()).toBe(false);
  await feed.addListener("one", organization_id);
  await vi.waitUntil(() => feed.hasConsumers(), 10_000);
  const inspector = await openInspector(bus);
  await inspector.jsm.consumers.delete(inspector.names.streams.events, inspector.names.listener("one"));
  await inspector.close();
  await vi.waitUntil(() => !feed.hasConsumers(), 10_000);
});

test("a listener keeps its organization: its name is refused for another one", async () => {
  const bus = testBus();
  const { feed } = await openBus(bus);
  await feed.addListener("one", organization_id);
  await feed.addListener("one", organization_id);
  const filter_subject = `${bus.prefix}.evt.v1.${organization_id}.>`;
  await expect(feed.addListener("one", newId())).rejects.toThrow(
    `The consumer one exists already and receives ${filter_subject}`,
  );
  const inspector = await openInspector(bus);
  const { config } = await inspector.jsm.consumers.info(inspector.names.streams.events, "one");
  await inspector.close();
  expect(config).toMatchObject({ filter_subject, max_ack_pending: 1 });
});

test("a recreated feed stream, or one with an unexpected last event, accepts nothing until its last event is read", async () => {
  const bus = testBus();
  const [{ feed }, other] = [await openBus(bus), await openBus(bus)];
  expect(await feed.last()).toBe("nothing");
  await feed.publish(events(1, 3));
  expect(await other.feed.last()).toMatchObject({ position: 3 });
  await other.feed.publish(events(4, 4));
  await expect(feed.publish(events(5, 6))).rejects.toThrow(Unavailable);
  expect(await feed.last()).toMatchObject({ position: 4 });
  await feed.publish(events(5, 6));
  await removeStreams(bus);
  await openBus(bus);
  await expect(feed.publish(events(7, 8))).rejects.toThrow(Unavailable);
  expect(await feed.last()).toBe("nothing");
  expect(await readFeed(bus)).toEqual([]);
});

test("a lost feed stream receives all events of its retention period again before newer ones", async () => {
  const deployment = await testDeployment();
  const bus = { url: deployment.addresses.nats_url, prefix: deployment.prefix };
  const logged = async ({ pool }: Resources, after = 0) =>
    (
      await pool.query<{ position: number }>(
        "select position from log.events where position > $1 and type = any ($2) order by 1",
        [after, publishedTypes()],
      )
    ).rows.map(({ position }) => position);
  const received = async () => (await readFeed(bus)).map(({ position }) => position);
  const soon = { timeout: 60_000, interval: 100 };

  const first = await startPlatform({ deployment });
  await first.organization("One");
  await expect.poll(received, soon).toEqual(await logged(first.resources));
  await removeStreams(bus);
  await first.organization("Two");
  await expect.poll(() => received().catch(() => []), soon).toEqual(await logged(first.resources));

  const all = await logged(first.resources);
  await first.stop();
  await removeStreams(bus);
  const second = await startPlatform({ deployment });
  await expect.poll(received, soon).toEqual(all);
  const kept = "select position from log.checkpoints where name = 'feed'";
  await expect.poll(async () => (await second.resources.pool.query(kept)).rows[0]?.position, soon).toBe(all.at(-1));
  await second.stop();
  await removeStreams(bus);
  // events older than the retention of a week are not published again
  const old = all.at(-2)!;
  const pool = openPool(deployment.addresses.database_url, { max: 1, name: "test" });
  await pool.query("update log.events set recorded_at = recorded_at - interval '8 days' where position <= $1", [old]);
  await pool.end();
  const third = await startPlatform({ deployment });
  await third.organization("Three");
  await expect.poll(received, soon).toEqual(await logged(third.resources, old));
});

test("a durable consumer of the feed with max_ack_pending 1 receives messages that its connection lost again before newer ones", async () => {
  const bus = testBus();
  const { feed } = await openBus(bus);
  await feed.publish(events(1, 3));
  const durable = async () => {
    const inspector = await openInspector(bus);
    const stream = inspector.names.streams.events;
    const settings = { ack_policy: "explicit", ack_wait: nanos(500), max_ack_pending: 1 } as const;
    await inspector.jsm.consumers.add(stream, { durable_name: "listener", ...settings });
    const consumer = await jetstream(inspector.nc).consumers.get(stream, "listener");
    return { next: async () => (await consumer.next({ expires: 5_000 }))!, close: () => inspector.close() };
  };
  const first = await durable();
  expect((await first.next()).json()).toMatchObject({ position: 1 });
  await first.close();
  const second = await durable();
  for (const position of [1, 2, 3]) {
    const message = await second.next();
    expect(message.json()).toMatchObject({ position });
    message.ack();
  }
  await second.close();
});

test("the feed contains every event in the order of the log, and no personal data", async () => {
  const platform = await startPlatform();
  const { api_key, organization_id: mine } = await platform.organization("Canary organization");
  const send = clientOf({ chat: platform.url }, api_key);
  await send("POST", "/api/openai/v1/chat/completions", {
    model: "offline/echo",
    messages: [{ role: "user", content: "canary words" }],
    user: "canary user",
  });
  const bus = { url: platform.resources.addresses.nats_url, prefix: platform.settings.BUS_PREFIX };
  const all = async () => (await readFeed(bus)).filter((one) => one.organization_id === mine);
  await expect.poll(async () => (await all()).map(({ type }) => type)).toContain("TurnCompleted");
  const found = await all();
  const logged = await platform.resources.db.query<{ position: number; type: string }>(
    "select position, type from log.events where organization_id = $1 and type not like 'Claim%' order by position",
    [mine],
  );
  expect(found.map(({ position, type }) => ({ position, type }))).toEqual(logged);
  const text = JSON.stringify(found);
  expect(text).not.toContain("anary");
  expect(text).not.toMatch(/_hash|_claim|"blob"/);
  expect(found.find(({ type }) => type === "TurnCompleted")!.data).toMatchObject({ finish_reason: "stop" });

  const description: any = await (await fetch(`${platform.url}/asyncapi.json`)).json();
  expect(description.asyncapi).toBe("3.0.0");
  for (const type of new Set(found.map((one) => one.type)))
    expect(Object.keys(description.components.messages)).toContain(type);
});

test("the example subscriber prints the feed's events", async () => {
  const bus = testBus();
  const { feed } = await openBus(bus);
  await feed.publish(events(7, 7));
  const child = spawn(process.execPath, ["examples/subscribe.mjs", `${bus.prefix}.evt.v1.*.run.>`], {
    env: { ...process.env, NATS_URL: bus.url, BUS_PREFIX: bus.prefix },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  child.kill();
  expect(line).toBe(`7 RunStarted ${stream} {"n":7}`);
});

test("the platform and the example subscriber sign in with any password, percent-encoded in the address", async () => {
  const password = "p@s:s/%2";
  const server = await startOwnServer({ config: `authorization { user: "svc", password: "${password}" }` });
  const NATS_URL = server.urlOf("svc", encodeURIComponent(password));
  const { feed } = await openBus({ url: NATS_URL, prefix: "svc" });
  await feed.publish(events(7, 7));
  const child = spawn(process.execPath, ["examples/subscribe.mjs"], {
    env: { ...process.env, NATS_URL },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const line = once(createInterface(child.stdout), "line");
  const first = await Promise.race([line, once(child, "exit")]);
  child.kill();
  expect(first).toEqual([`7 RunStarted ${stream} {"n":7}`]);
});

test("the example subscriber without a NATS server prints one line that says what to do", async () => {
  const host = `127.0.0.1:${await freePort()}`;
  const env = { ...process.env, NATS_URL: `nats://${host}` };
  const child = spawn(process.execPath, ["examples/subscribe.mjs"], { env, stdio: ["ignore", "ignore", "pipe"] });
  const lines: string[] = [];
  for await (const line of createInterface(child.stderr)) lines.push(line);
  expect(lines).toEqual([
    `No feed at ${host} (connection refused): start the service, and give the address of its NATS as NATS_URL.`,
  ]);
});
