import { setTimeout as delay } from "node:timers/promises";
import { jetstream, type ConsumerMessages, type JsMsg } from "@nats-io/jetstream";
import type { Subscription } from "@nats-io/transport-node";
import { Unavailable } from "#events/ports.ts";
import type { Connection } from "./connection.ts";
import type { Streams } from "./streams.ts";

const MAX_DELIVERIES = 5;
const PULL = { max_messages: 256, expires: 10_000, idle_heartbeat: 1000, abort_on_missing_resource: true };

export interface Work {
  stream: string;
  durable: string;
  ack_wait_ms: number;
  /** Throws Undecodable for a message that will never make sense. */
  handle(message: JsMsg): Promise<void>;
  /** Keeps a message that is given up; the message is retried until this succeeds. */
  bury(message: JsMsg, reason: string, error: unknown): Promise<void>;
}

/** A message that no retry can help. */
export class Undecodable extends Error {
  constructor(cause: unknown) {
    super("The message cannot be decoded", { cause });
    this.name = "Undecodable";
  }
}

/** Works through a durable consumer's messages, as many at once as the consumer lets be pending, until stopped. */
export function workThrough(bus: { connection: Connection; streams: Streams }, work: Work): { stop(): Promise<void> } {
  const { connection } = bus;
  const inHand = new Map<JsMsg, { since: number; done: Promise<void> }>();
  const take = (message: JsMsg) => {
    const done = treat(connection, work, message)
      .catch((err) => connection.log.error({ err }, "bus: a message is left to its next delivery"))
      .finally(() => inHand.delete(message));
    inHand.set(message, { since: Date.now(), done });
  };
  const stillWorking = () => {
    const before = Date.now() - work.ack_wait_ms / 3;
    for (const [message, { since }] of inHand) if (since < before) message.working();
  };
  const keepAlive = setInterval(stillWorking, work.ack_wait_ms / 6);
  const pulling = pullUntilStopped(bus, work, take);
  return {
    async stop() {
      await pulling.stop();
      await Promise.all([...inHand.values()].map(({ done }) => done));
      clearInterval(keepAlive);
    },
  };
}

function pullUntilStopped(
  { connection, streams }: { connection: Connection; streams: Streams },
  { stream, durable }: Work,
  take: (message: JsMsg) => void,
): { stop(): Promise<void> } {
  let stopped = false;
  let messages: ConsumerMessages | undefined;
  const pull = async () => {
    await connection.whenConnected();
    await streams.repair();
    const consumer = await connection.during(jetstream(connection.nc).consumers.get(stream, durable));
    messages = await consumer.consume({ ...PULL, callback: take });
    if (stopped) messages.stop();
    const error = await messages.closed();
    if (error) throw error;
  };
  const pullOn = async () => {
    while (!stopped && !connection.nc.isClosed()) {
      try {
        await pull();
      } catch (err) {
        if (stopped) return;
        connection.log.warn({ err, stream }, "bus: the consumer was lost, taking it up again");
        await delay(250);
      }
    }
  };
  // After a silent cut the library may sit out its own back-off, up to 15 s, before it asks for messages again.
  const forget = connection.onReconnect(() => void drain(messages));
  const done = pullOn();
  return {
    async stop() {
      stopped = true;
      forget();
      await drain(messages);
      await done;
    },
  };
}

/** The library's own stop drops what the server has just sent; that would wait `ack_wait` for its next delivery. */
async function drain(messages: ConsumerMessages | undefined): Promise<void> {
  const { sub } = (messages ?? {}) as { sub?: Subscription };
  await sub?.drain().catch(() => {});
  messages?.stop();
}

async function treat({ log, wire }: Connection, work: Work, message: JsMsg): Promise<void> {
  const { deliveryCount } = message.info;
  try {
    await work.handle(message);
    wire.send(() => message.ack());
  } catch (error) {
    const reason = verdict(error, deliveryCount);
    const about = { err: error, subject: message.subject, deliveryCount };
    if (!reason) {
      log.warn(about, "bus: a message will be tried again");
      return message.nak(backoffMs(deliveryCount));
    }
    log.error({ ...about, reason }, "bus: a message is given up");
    try {
      await work.bury(message, reason, error);
      message.term(reason);
    } catch (err) {
      log.error({ err, subject: message.subject }, "bus: a dead letter could not be kept");
      message.nak(backoffMs(deliveryCount));
    }
  }
}

/** Why a message is given up, or undefined when it is to be tried again: always, while a service that it needs is away. */
function verdict(error: unknown, deliveryCount: number): string | undefined {
  if (error instanceof Undecodable) return "undecodable";
  if (error instanceof Unavailable) return undefined;
  return deliveryCount >= MAX_DELIVERIES ? "failed too often" : undefined;
}

const backoffMs = (deliveryCount: number): number => Math.min(10_000, 100 * 2 ** Math.min(deliveryCount, 10));
