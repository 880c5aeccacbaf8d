import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { jetstream } from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import { describe, expect, test } from "vitest";
import { newId, streamOf } from "#events/ids.ts";
import { Unavailable } from "#events/ports.ts";
import { publishedTypes, type FeedEvent } from "#events/published.ts";
import { clientOf } from "../http/service.ts";
import type { Told } from "#infra/nats/feed.ts";
import { freePort } from "#infra/embedded/port.ts";
import { openPool } from "#infra/postgres/pool.ts";
import type { Opened } from "../../roles/open.ts";
import { testBus } from "../harness.ts";
import { startPlatform, testDeployment } from "../platform.ts";
import { aBus } from "./bus.ts";
import { lookAt, removeStreams, told } from "./streams.ts";

const organization_id = newId();
const stream = streamOf("run", newId());
const event = (position: number): FeedEvent => ({
  position,
  stream,
  version: position,
  organization_id,
  type: "RunStarted",
  schema_version: 1,
  recorded_at: "2026-01-01T00:00:00.000Z",
  data: { n: position },
});
const events = (from: number, to: number): Told[] =>
  Array.from({ length: to - from + 1 }, (_, n) => ({ event: event(from + n) }));

describe("the feed", () => {
  test("keeps the order, and what is published again is not taken twice", async () => {
    const where = testBus();
    const { feed } = await aBus(where);
    await feed.publish(events(1, 300));
    await feed.publish(events(200, 400));
    expect((await told(where)).map(({ position }) => position)).toEqual(
      events(1, 400).map((one) => one.event.position),
    );
  });
  test("tells what came at a position that was given out before the log was restored", async () => {
    const where = testBus();
    const { feed } = await aBus(where);
    await feed.publish(events(1, 5));
    const anew = events(3, 6).map(({ event }) => ({ event: { ...event, recorded_at: "2026-01-01T00:00:01.000Z" } }));
    await feed.publish(anew);
    expect((await told(where)).map(({ position }) => position)).toEqual([1, 2, 3, 4, 5, 3, 4, 5, 6]);
  });
  test("takes nothing after one that it did not take", async () => {
    const where = testBus();
    const { feed } = await aBus(where);
    const broken = { ...event(3), type: "not fit for a subject" };
    await expect(feed.publish([...events(1, 2), { event: broken }, ...events(4, 4)])).rejects.toThrow();
    await feed.publish(events(1, 4));
    expect((await told(where)).map(({ position }) => position)).toEqual([1, 2, 3, 4]);
  });
});

test("a stream that holds another last event than is known, or was made anew, takes nothing until it is looked at", async () => {
  const where = testBus();
  const [{ feed }, other] = [await aBus(where), await aBus(where)];
  expect(await feed.last()).toBe("nothing");
  await feed.publish(events(1, 3));
  expect(await other.feed.last()).toMatchObject({ position: 3 });
  await other.feed.publish(events(4, 4));
  await expect(feed.publish(events(5, 6))).rejects.toThrow(Unavailable);
  expect(await feed.last()).toMatchObject({ position: 4 });
  await feed.publish(events(5, 6));
  await removeStreams(where);
  await aBus(where);
  await expect(feed.publish(events(7, 8))).rejects.toThrow(Unavailable);
  expect(await feed.last()).toBe("nothing");
  expect(await told(where)).toEqual([]);
});

test("a stream that was lost is told again all that it would still hold, before what comes later", async () => {
  const deployment = await testDeployment();
  const where = { url: deployment.addresses.nats_url, prefix: deployment.prefix };
  const logged = async ({ pool }: Opened, after = 0) =>
    (
      await pool.query<{ position: number }>(
        "select position from log.events where position > $1 and type = any ($2) order by 1",
        [after, publishedTypes()],
      )
    ).rows.map(({ position }) => position);
  const heard = async () => (await told(where)).map(({ position }) => position);
  const soon = { timeout: 20_000, interval: 100 };

  const first = await startPlatform({ deployment });
  await first.organization("One");
  await expect.poll(heard, soon).toEqual(await logged(first.opened));
  await removeStreams(where);
  await first.organization("Two");
  await expect.poll(() => heard().catch(() => []), soon).toEqual(await logged(first.opened));

  const all = await logged(first.opened);
  await first.stop();
  await removeStreams(where);
  const second = await startPlatform({ deployment });
  await expect.poll(heard, soon).toEqual(all);
  const kept = "select position from log.checkpoints where name = 'feed'";
  await expect.poll(async () => (await second.opened.pool.query(kept)).rows[0]?.position, soon).toBe(all.at(-1));
  await second.stop();
  await removeStreams(where);
  // what a week has passed over is not told again
  const old = all.at(-2)!;
  const pool = openPool(deployment.addresses.database_url, { max: 1, name: "test" });
  await pool.query("update log.events set recorded_at = recorded_at - interval '8 days' where position <= $1", [old]);
  await pool.end();
  const third = await startPlatform({ deployment });
  await third.organization("Three");
  await expect.poll(heard, soon).toEqual(await logged(third.opened, old));
});

test("a durable consumer of one message at a time hears again what its connection has lost, before what is later", async () => {
  const where = testBus();
  const { feed } = await aBus(where);
  await feed.publish(events(1, 3));
  const durable = async () => {
    const looker = await lookAt(where);
    const stream = looker.names.streams.events;
    const settings = { ack_policy: "explicit", ack_wait: nanos(500), max_ack_pending: 1 } as const;
    await looker.jsm.consumers.add(stream, { durable_name: "listener", ...settings });
    const consumer = await jetstream(looker.nc).consumers.get(stream, "listener");
    return { next: async () => (await consumer.next({ expires: 5_000 }))!, close: () => looker.close() };
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

test("tells everything that happens, in the order of the log, and nothing of people", async () => {
  const platform = await startPlatform();
  const { api_key, organization_id: mine } = await platform.organization("Canary organization");
  const send = clientOf({ chat: platform.url }, api_key);
  await send("POST", "/api/openai/v1/chat/completions", {
    model: "offline/echo",
    messages: [{ role: "user", content: "canary words" }],
    user: "canary user",
  });
  const where = { url: platform.opened.addresses.nats_url, prefix: platform.settings.BUS_PREFIX };
  const all = async () => (await told(where)).filter((one) => one.organization_id === mine);
  await expect.poll(async () => (await all()).map(({ type }) => type), { timeout: 20_000 }).toContain("TurnCompleted");
  const found = await all();
  const logged = await platform.opened.db.query<{ position: number; type: string }>(
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

test("the subscriber of the examples hears it", async () => {
  const where = testBus();
  const { feed } = await aBus(where);
  await feed.publish(events(7, 7));
  const child = spawn(process.execPath, ["examples/subscribe.mjs", `${where.prefix}.evt.v1.*.run.>`], {
    env: { ...process.env, NATS_URL: where.url, BUS_PREFIX: where.prefix },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  child.kill();
  expect(line).toBe(`7 RunStarted ${stream} {"n":7}`);
});

test("where no NATS is, it says so in one line that names what to do", async () => {
  const host = `127.0.0.1:${await freePort()}`;
  const env = { ...process.env, NATS_URL: `nats://${host}` };
  const child = spawn(process.execPath, ["examples/subscribe.mjs"], { env, stdio: ["ignore", "ignore", "pipe"] });
  const said: string[] = [];
  for await (const line of createInterface(child.stderr)) said.push(line);
  expect(said).toEqual([
    `No feed at ${host} (connection refused): start the service, and give the address of its NATS as NATS_URL.`,
  ]);
});
