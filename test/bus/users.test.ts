import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { beforeAll, describe, expect, test } from "vitest";
import { newId, streamName } from "#events/ids.ts";
import type { FeedEvent } from "#events/published.ts";
import { afterFile } from "../cleanUp.ts";
import { openBus, startWorker } from "./bus.ts";
import { startServerWithUsers } from "./users.ts";

/* The users of deploy/nats-users.conf on a real server: what each needs works, and what it must not do is refused. */

const [mine, theirs] = [newId(), newId()];

const event = (organization_id: string, position: number): FeedEvent => ({
  position,
  stream: streamName("run", newId()),
  version: 1,
  organization_id,
  type: "RunStarted",
  schema_version: 1,
  recorded_at: "2026-01-01T00:00:00.000Z",
  data: { n: position },
});

let server: Awaited<ReturnType<typeof startServerWithUsers>>;
beforeAll(async () => {
  server = await startServerWithUsers({ mine, theirs });
});

async function connectAs(user: string, pass: string): Promise<NatsConnection> {
  const nc = await connect({ servers: new URL(server.url).host, user, pass, inboxPrefix: `_INBOX.${user}` });
  afterFile(() => nc.close());
  return nc;
}

/** Whether the server refused the request, or the payload in it. */
async function isRefused(nc: NatsConnection, subject: string, payload: unknown = ""): Promise<boolean> {
  const text = typeof payload === "string" ? payload : JSON.stringify(payload);
  try {
    return (await nc.request(subject, text, { timeout: 5_000 })).json<{ error?: unknown }>().error !== undefined;
  } catch (error) {
    if (/permissions violation/i.test(`${String(error)} ${String((error as Error).cause)}`)) return true;
    throw error;
  }
}

/** Whether the server refused the subscription. */
async function isDeaf(nc: NatsConnection, subject: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const subscription = nc.subscribe(subject, { callback: (error) => (error ? resolve(true) : undefined) });
  await nc.flush();
  await nc.flush();
  setImmediate(() => resolve(false));
  return promise.finally(() => subscription.unsubscribe());
}

const FILTER = (organization: string) => `svc.evt.v1.${organization}.>`;
const CREATE = "$JS.API.CONSUMER.CREATE.SVC_EVENTS";
const consumerOf = (name: string, filter_subject?: string) => ({
  stream_name: "SVC_EVENTS",
  config: { durable_name: name, ack_policy: "explicit", ...(filter_subject && { filter_subject }) },
});

describe("a listener to the feed with its own user", () => {
  let listener: NatsConnection;
  beforeAll(async () => {
    const { feed } = await openBus({ url: server.urlOf("svc", "all"), prefix: "svc" });
    await feed.publish([1, 2, 3, 4].map((n) => ({ event: event(n % 2 ? mine : theirs, n) })));
    const settings = { ack_policy: "explicit", max_ack_pending: 1 } as const;
    const second = await jetstreamManager(await connectAs("second", "l"), { checkAPI: false });
    await second.consumers.add("SVC_EVENTS", { durable_name: "second", filter_subject: FILTER(theirs), ...settings });
    listener = await connectAs("listener", "l");
  });

  test("reads the events of its organization, and continues after a restart of the listener", async () => {
    const manager = await jetstreamManager(listener, { checkAPI: false });
    const settings = { durable_name: "listener", filter_subject: FILTER(mine), ack_policy: "explicit" } as const;
    await manager.consumers.add("SVC_EVENTS", settings);
    for (const position of [1, 3]) {
      const consumer = await jetstream(await connectAs("listener", "l")).consumers.get("SVC_EVENTS", "listener");
      const message = (await consumer.next({ expires: 5_000 }))!;
      expect(message.json()).toMatchObject({ position, organization_id: mine });
      expect(await message.ackAck()).toBe(true);
    }
  });
  test("cannot create a consumer of another organization, of all, or under another name", async () => {
    const asked = {
      [`${CREATE}.listener.${FILTER(theirs)}`]: consumerOf("listener", FILTER(theirs)),
      [`${CREATE}.listener.svc.evt.v1.>`]: consumerOf("listener", "svc.evt.v1.>"),
      [`${CREATE}.listener.svc.evt.v1.*.>`]: consumerOf("listener", "svc.evt.v1.*.>"),
      [`${CREATE}.listener`]: consumerOf("listener"),
      [`${CREATE}.other.${FILTER(mine)}`]: consumerOf("other", FILTER(mine)),
      [CREATE]: consumerOf("listener"),
      "$JS.API.CONSUMER.DURABLE.CREATE.SVC_EVENTS.listener": consumerOf("listener"),
    };
    for (const [subject, payload] of Object.entries(asked))
      expect(await isRefused(listener, subject, payload), subject).toBe(true);
  });
  test("cannot name in the request another filter than in its subject", async () => {
    const subject = `${CREATE}.listener.${FILTER(mine)}`;
    for (const filter of [FILTER(theirs), "svc.evt.v1.>", undefined])
      expect(await isRefused(listener, subject, consumerOf("listener", filter)), filter).toBe(true);
  });
  test("cannot take messages of another listener's consumer, and does not see what the feed holds of others", async () => {
    for (const subject of [
      "$JS.API.CONSUMER.MSG.NEXT.SVC_EVENTS.second",
      "$JS.API.CONSUMER.INFO.SVC_EVENTS.second",
      "$JS.API.CONSUMER.LIST.SVC_EVENTS",
      "$JS.API.CONSUMER.NAMES.SVC_EVENTS",
      "$JS.API.STREAM.INFO.SVC_EVENTS",
      "$JS.API.STREAM.MSG.GET.SVC_EVENTS",
      "$JS.API.DIRECT.GET.SVC_EVENTS",
      "$JS.ACK.SVC_EVENTS.second.1.1.1.1.0",
    ])
      expect(await isRefused(listener, subject), subject).toBe(true);
  });
  test("cannot send commands, write events, or change and delete streams", async () => {
    for (const subject of [
      `svc.cmd.${mine}.thread.${newId()}`,
      `svc.evt.v1.${mine}.run.RunStarted`,
      `svc.stop.${theirs}.${newId()}`,
      "svc.hint.committed",
      "$JS.API.STREAM.PURGE.SVC_EVENTS",
      "$JS.API.STREAM.DELETE.SVC_EVENTS",
      "$JS.API.STREAM.UPDATE.SVC_EVENTS",
      "$JS.API.STREAM.CREATE.MINE",
      "$JS.API.CONSUMER.DELETE.SVC_EVENTS.second",
      "$JS.API.STREAM.MSG.DELETE.SVC_EVENTS",
    ])
      expect(await isRefused(listener, subject), subject).toBe(true);
  });
  test("cannot hear subjects of the platform, or replies to others", async () => {
    for (const subject of [">", "svc.>", `svc.evt.v1.${mine}.>`, `svc.deltas.${mine}.*`, "svc.cmd.>", "_INBOX.>"])
      expect(await isDeaf(listener, subject), subject).toBe(true);
    for (const user of ["svc", "http", "services", "projections", "second", "*"])
      expect(await isDeaf(listener, `_INBOX.${user}.>`), user).toBe(true);
    expect(await isDeaf(listener, "_INBOX.listener.>")).toBe(false);
  });
  test("cannot make a command of an event by naming a command's subject for the reply", async () => {
    const bus = await openBus({ url: server.urlOf("svc", "all"), prefix: "svc" });
    const handled: unknown[] = [];
    await startWorker(bus, async (command) => {
      handled.push(command);
      return { position: 1, repeated: false };
    });
    await bus.feed.publish([{ event: event(mine, 5) }]);
    const reply = `svc.cmd.${mine}.thread.${newId()}`;
    listener.publish("$JS.API.CONSUMER.MSG.NEXT.SVC_EVENTS.listener", "1", { reply });
    await expect.poll(() => bus.deadLetters.list(10)).toMatchObject([{ reason: "undecodable" }]);
    expect(handled).toEqual([]);
  });
  test("is what examples/subscribe.mjs connects as, when it is given the name of its consumer", async () => {
    const child = spawn(process.execPath, ["examples/subscribe.mjs", FILTER(theirs), "second"], {
      env: { ...process.env, NATS_URL: server.urlOf("second", "l") },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await once(createInterface(child.stdout), "line")) as [string];
    child.kill();
    expect(line).toMatch(/^2 RunStarted run-\S+ \{"n":2\}$/);
  });
});

describe("users by role", () => {
  test("http and projections cannot take commands, write the feed or delete streams, and nobody hears another user's replies", async () => {
    await openBus({ url: server.urlOf("svc", "all"), prefix: "svc" });
    const never = [
      "$JS.API.STREAM.DELETE.SVC_EVENTS",
      "$JS.API.STREAM.PURGE.SVC_COMMANDS",
      "$JS.API.STREAM.UPDATE.SVC_COMMANDS",
      "$JS.API.CONSUMER.MSG.NEXT.SVC_COMMANDS.services",
      "$JS.API.CONSUMER.DELETE.SVC_COMMANDS.services",
      `svc.evt.v1.${mine}.run.RunStarted`,
      `svc.react.${mine}.RunStarted`,
    ];
    const forbidden = {
      http: { password: "h", publish: never },
      projections: {
        password: "p",
        publish: [...never, `svc.cmd.${mine}.thread.x`, "$JS.API.STREAM.MSG.GET.SVC_COMMANDS"],
      },
      services: { password: "s", publish: ["$JS.API.STREAM.DELETE.SVC_EVENTS", "$JS.API.STREAM.PURGE.SVC_EVENTS"] },
    };
    for (const [user, { password, publish }] of Object.entries(forbidden)) {
      const nc = await connectAs(user, password);
      for (const subject of publish) expect(await isRefused(nc, subject), `${user} ${subject}`).toBe(true);
      for (const other of ["_INBOX.>", "_INBOX.listener.>", "svc.cmd.>"])
        expect(await isDeaf(nc, other), `${user} ${other}`).toBe(true);
    }
  });
});
