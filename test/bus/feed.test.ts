import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { jetstream } from "@nats-io/jetstream";
import { describe, expect, test } from "vitest";
import { newId, streamOf } from "#events/ids.ts";
import type { FeedEvent } from "#events/published.ts";
import { clientOf } from "../http/service.ts";
import { testBus } from "../harness.ts";
import { startPlatform } from "../platform.ts";
import { aBus } from "./bus.ts";
import { lookAt } from "./streams.ts";

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
const events = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => event(from + n));

/** What the stream holds, in its order. */
async function told(bus: { url: string; prefix: string }): Promise<FeedEvent[]> {
  const looker = await lookAt(bus);
  const { state } = await looker.jsm.streams.info(looker.names.streams.events);
  const consumer = await jetstream(looker.nc).consumers.get(looker.names.streams.events);
  const found: FeedEvent[] = [];
  for await (const message of await consumer.fetch({ max_messages: Math.max(1, state.messages), expires: 2_000 })) {
    found.push(message.json<FeedEvent>());
    if (found.length === state.messages) break;
  }
  await looker.close();
  return found;
}

describe("the feed", () => {
  test("keeps the order, and what is published again is not taken twice", async () => {
    const where = testBus();
    const { feed } = await aBus(where);
    await feed.publish(events(1, 300));
    await feed.publish(events(200, 400));
    expect((await told(where)).map(({ position }) => position)).toEqual(events(1, 400).map(({ position }) => position));
  });
  test("takes nothing after one that it did not take", async () => {
    const where = testBus();
    const { feed } = await aBus(where);
    const broken = { ...event(3), type: "not fit for a subject" };
    await expect(feed.publish([event(1), event(2), broken, event(4)])).rejects.toThrow();
    await feed.publish(events(1, 4));
    expect((await told(where)).map(({ position }) => position)).toEqual([1, 2, 3, 4]);
  });
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
  await feed.publish([event(7)]);
  const child = spawn(process.execPath, ["examples/subscribe.mjs", `${where.prefix}.evt.v1.*.run.>`], {
    env: { ...process.env, NATS_URL: where.url, BUS_PREFIX: where.prefix },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  child.kill();
  expect(line).toBe(`7 RunStarted ${stream} {"n":7}`);
});
