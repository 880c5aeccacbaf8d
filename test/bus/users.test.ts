import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { beforeAll, describe, expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import type { Bus } from "#infra/nats/connect.ts";
import { afterFile } from "../cleanUp.ts";
import { feedEvent } from "../samples.ts";
import { openBus, startWorker } from "./bus.ts";
import { startServerWithUsers } from "./users.ts";

/* The users of deploy/nats-users.conf on a real server: each may do what its role needs, and everything else is refused. */

const [mine, theirs] = [newId(), newId()];

const event = (organization_id: string, position: number) => feedEvent(position, { organization_id });

const server = await startServerWithUsers();

async function connectAs(user: string, pass: string): Promise<NatsConnection> {
  const nc = await connect({ servers: new URL(server.url).host, user, pass, inboxPrefix: `_INBOX.${user}` });
  afterFile(() => nc.close());
  return nc;
}

/** Whether the server refused the request or its payload, or nothing in the account answers such requests. */
async function isRefused(nc: NatsConnection, subject: string, payload: unknown = ""): Promise<boolean> {
  const text = typeof payload === "string" ? payload : JSON.stringify(payload);
  try {
    return (await nc.request(subject, text, { timeout: 5_000 })).json<{ error?: unknown }>().error !== undefined;
  } catch (error) {
    if (/permissions violation|no responders/i.test(`${String(error)} ${String((error as Error).cause)}`)) return true;
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

describe("a feed listener with its own NATS user", () => {
  const API = { apiPrefix: "feed" };
  const platformBus = (): Promise<Bus> => openBus({ url: server.urlOf("svc", "all"), prefix: "svc" });
  let listener: NatsConnection;
  beforeAll(async () => {
    const bus = await platformBus();
    await bus.feed.publish([1, 2, 3, 4].map((n) => ({ event: event(n % 2 ? mine : theirs, n) })));
    await bus.feed.addListener("second", theirs);
    await bus.feed.addListener("listener", mine);
    listener = await connectAs("listener", "l");
  });

  test("reads the events of its organization, and continues after a restart of the listener", async () => {
    const bus = await platformBus();
    for (const position of [1, 3]) {
      const consumer = await jetstream(await connectAs("listener", "l"), API).consumers.get("SVC_EVENTS", "listener");
      const message = (await consumer.next({ expires: 5_000 }))!;
      expect(message.json()).toMatchObject({ position, organization_id: mine });
      expect(await message.ackAck()).toBe(true);
      await bus.feed.addListener("listener", mine);
    }
  });
  test("cannot create a consumer, even for its own organization, because it could deliver to any subject of the platform", async () => {
    const asked = {
      [`${CREATE}.listener.${FILTER(theirs)}`]: consumerOf("listener", FILTER(theirs)),
      [`${CREATE}.listener.${FILTER(mine)}`]: consumerOf("listener", FILTER(mine)),
      [`${CREATE}.listener.svc.evt.v1.>`]: consumerOf("listener", "svc.evt.v1.>"),
      [`${CREATE}.listener`]: consumerOf("listener"),
      [`${CREATE}.other.${FILTER(mine)}`]: consumerOf("other", FILTER(mine)),
      [CREATE]: consumerOf("listener"),
      "$JS.API.CONSUMER.DURABLE.CREATE.SVC_EVENTS.listener": consumerOf("listener"),
    };
    for (const [subject, payload] of Object.entries(asked))
      expect(await isRefused(listener, subject, payload), subject).toBe(true);
  });
  test("cannot take messages of another listener's consumer, and does not see the feed events of others", async () => {
    for (const subject of [
      "feed.CONSUMER.MSG.NEXT.SVC_EVENTS.second",
      "$JS.API.CONSUMER.INFO.SVC_EVENTS.second",
      "feed.CONSUMER.INFO.SVC_EVENTS.second",
      "feed.CONSUMER.LIST.SVC_EVENTS",
      "feed.STREAM.INFO.SVC_EVENTS",
      "$JS.API.CONSUMER.LIST.SVC_EVENTS",
      "feed.CONSUMER.NAMES.SVC_EVENTS",
      "$JS.API.STREAM.INFO.SVC_EVENTS",
      "feed.STREAM.MSG.GET.SVC_EVENTS",
      "feed.DIRECT.GET.SVC_EVENTS",
      "$JS.ACK.SVC_EVENTS.second.1.1.1.1.0",
    ])
      expect(await isRefused(listener, subject), subject).toBe(true);
    // nothing answers this one in an account without streams
    listener.publish("$JS.API.CONSUMER.MSG.NEXT.SVC_EVENTS.second", "1", { reply: "_INBOX.listener.x" });
    await listener.flush();
    const platform = await jetstreamManager(await connectAs("svc", "all"));
    expect((await platform.consumers.info("SVC_EVENTS", "second")).delivered.consumer_seq).toBe(0);
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
  test("receives nothing of the platform or of other listeners, whatever it subscribes to", async () => {
    const heard: string[] = [];
    for (const subject of [">", `svc.evt.v1.${mine}.>`, "_INBOX.>"])
      listener.subscribe(subject, { callback: (_, { subject: found }) => void heard.push(found) });
    await listener.flush();
    const [platform, second] = [await connectAs("svc", "all"), await connectAs("second", "l")];
    for (const subject of [`svc.deltas.${mine}.x`, "svc.hint.committed", `svc.stop.${mine}.x`])
      platform.publish(subject, "{}");
    await platform.request("$JS.API.CONSUMER.INFO.SVC_EVENTS.listener");
    await second.request("feed.CONSUMER.INFO.SVC_EVENTS.second");
    second.publish("anything");
    await Promise.all([platform.flush(), second.flush()]);
    await listener.flush();
    expect(heard).toEqual([]);
  });
  test("receives its events in its own account, whatever reply subject it names, so they never become commands", async () => {
    const bus = await platformBus();
    const handled: unknown[] = [];
    await startWorker(bus, async (command) => {
      handled.push(command);
      return { position: 1, repeated: false };
    });
    await bus.feed.publish([{ event: event(mine, 5) }]);
    const commands = async () =>
      (await (await jetstreamManager(await connectAs("svc", "all"))).streams.info("SVC_COMMANDS")).state.last_seq;
    const before = await commands();
    const reply = `svc.cmd.${mine}.thread.${newId()}`;
    const received = Promise.withResolvers<unknown>();
    listener.subscribe(reply, { callback: (_, message) => received.resolve(message.json()) });
    listener.publish("feed.CONSUMER.MSG.NEXT.SVC_EVENTS.listener", "1", { reply });
    expect(await received.promise).toMatchObject({ position: 5, organization_id: mine });
    expect(await commands()).toBe(before);
    expect(await bus.deadLetters.list(10)).toEqual([]);
    expect(handled).toEqual([]);
  });
  test("can be examples/subscribe.mjs with the name of its consumer", async () => {
    const child = spawn(process.execPath, ["examples/subscribe.mjs", FILTER(theirs), "second"], {
      env: { ...process.env, NATS_URL: server.urlOf("second", "l"), API_PREFIX: "feed" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await once(createInterface(child.stdout), "line")) as [string];
    child.kill();
    expect(line).toMatch(/^2 RunStarted run-\S+ \{"n":2\}$/);
  });
});

describe("users by role", () => {
  test("http and projections cannot take commands, write the feed or delete streams, and no role receives another role's replies", async () => {
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
