import { setTimeout as delay } from "node:timers/promises";
import { jetstream, type ConsumerMessages, type JsMsg } from "@nats-io/jetstream";
import type { Subscription } from "@nats-io/transport-node";
import { Unavailable, type Gate } from "#events/ports.ts";
import type { BusContext } from "./context.ts";
import { storeDeadLetter } from "./deadLetters.ts";

const MAX_DELIVERIES = 5;
const MAX_BACKOFF_MS = 10_000;
/** Requests for messages expire soon: until then, the server delivers into a connection that was dropped silently. */
const PULL = { max_messages: 256, expires: 2_000, idle_heartbeat: 1000, abort_on_missing_resource: true };

export interface QueueConsumer {
  queue: "commands" | "reactions";
  /** While it is closed, nothing is taken, and messages in progress are returned to the queue. */
  gate?: Gate | undefined;
  /** Throws Undecodable for a message that no retry can help. */
  handle(message: JsMsg): Promise<void>;
  /** Called repeatedly for a message whose handler takes long. */
  onWorking?(message: JsMsg): void;
  /** Called when a decoded message has failed too often and was moved to the dead letters. */
  onDeadLetter?(message: JsMsg): void;
}

/** A message that no retry can help. */
class Undecodable extends Error {
  constructor(cause: unknown) {
    super("The message cannot be decoded", { cause });
    this.name = "Undecodable";
  }
}

/** Parses the message. Throws Undecodable if it is not JSON, or not valid. */
export function decodeMessage<T>(message: JsMsg, isValid: (value: T) => boolean = () => true): T {
  try {
    const value = message.json<T>();
    if (!isValid(value)) throw new Error("unexpected fields");
    return value;
  } catch (error) {
    throw new Undecodable(error);
  }
}

/** Handles the queue's messages until stopped. The durable consumer limits how many are in progress. */
export function consumeQueue(bus: BusContext, consumer: QueueConsumer): { stop(): Promise<void> } {
  const { log } = bus.connection;
  const { ack_wait_ms } = bus.limits;
  const inProgress = new Map<JsMsg, { since: number; done: Promise<void> }>();
  const start = (message: JsMsg) => {
    const done = processMessage(bus, consumer, message)
      .catch((err) => log.error({ err }, "bus: message not settled, waiting for its redelivery"))
      .finally(() => inProgress.delete(message));
    inProgress.set(message, { since: performance.now(), done });
  };
  const extendAckWait = () => {
    const before = performance.now() - ack_wait_ms / 3;
    for (const [message, { since }] of inProgress) {
      if (since >= before) continue;
      message.working();
      consumer.onWorking?.(message);
    }
  };
  const heartbeats = setInterval(extendAckWait, ack_wait_ms / 6);
  /** Other workers take them at once. A handler that is still running here will find their outcome. */
  const giveBack = () => {
    if (inProgress.size > 0) log.warn({ count: inProgress.size, queue: consumer.queue }, "bus: messages given back");
    for (const message of inProgress.keys()) message.nak();
  };
  const pulling = pullUntilStopped(bus, consumer, start, giveBack);
  return {
    async stop() {
      await pulling.stop();
      await Promise.all([...inProgress.values()].map(({ done }) => done));
      clearInterval(heartbeats);
    },
  };
}

const ALWAYS_OPEN: Gate = { isOpen: () => true, onChange: () => () => {} };

async function untilOpen(gate: Gate, signal: AbortSignal): Promise<void> {
  if (gate.isOpen() || signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = gate.onChange((isOpen) => isOpen && resolve());
  signal.addEventListener("abort", () => resolve());
  await promise.finally(stop);
}

function pullUntilStopped(
  { connection, streams, names }: BusContext,
  { queue, gate = ALWAYS_OPEN }: QueueConsumer,
  onMessage: (message: JsMsg) => void,
  giveBack: () => void,
): { stop(): Promise<void> } {
  const stream = names.streams[queue];
  const closing = new AbortController();
  let isStopped = false;
  let messages: ConsumerMessages | undefined;
  const pull = async () => {
    await connection.whenConnected(closing.signal);
    await streams.repair();
    const consumer = await connection.during(jetstream(connection.nc).consumers.get(stream, names.durables[queue]));
    messages = await consumer.consume({ ...PULL, callback: onMessage });
    if (isStopped || !gate.isOpen()) messages.stop();
    const error = await messages.closed();
    if (error) throw error;
  };
  const pullRepeatedly = async () => {
    while (!isStopped && !connection.nc.isClosed()) {
      try {
        await untilOpen(gate, closing.signal);
        if (!isStopped) await pull();
      } catch (err) {
        if (isStopped) return;
        connection.log.warn({ err, stream }, "bus: consumer lost, reconnecting");
        await delay(250);
      }
    }
  };
  // After a silent disconnect, the library's own backoff can last 15 s before it pulls again.
  const unsubscribe = connection.onReconnect(() => void drain(messages));
  const ignoreGate = gate.onChange((isOpen) => {
    if (!isOpen) void drain(messages).then(giveBack);
  });
  const done = pullRepeatedly();
  return {
    async stop() {
      isStopped = true;
      closing.abort();
      unsubscribe();
      ignoreGate();
      await drain(messages);
      await done;
    },
  };
}

/** The library's own stop drops messages in transit, which would wait `ack_wait` for redelivery. */
async function drain(messages: ConsumerMessages | undefined): Promise<void> {
  const { sub } = (messages ?? {}) as { sub?: Subscription };
  await sub?.drain().catch(() => {});
  messages?.stop();
}

async function processMessage(bus: BusContext, consumer: QueueConsumer, message: JsMsg): Promise<void> {
  const { log, pubSub } = bus.connection;
  const { deliveryCount } = message.info;
  const retryLater = () => message.nak(backoffMs(deliveryCount));
  try {
    await consumer.handle(message);
    pubSub.batch(() => message.ack());
  } catch (error) {
    const reason = deadLetterReason(error, deliveryCount);
    const fields = { err: error, subject: message.subject, delivery: deliveryCount };
    if (!reason) {
      log.warn(fields, "bus: message failed, retrying");
      return retryLater();
    }
    log.error({ ...fields, reason }, "bus: message failed, moved to the dead letters");
    try {
      await storeDeadLetter(bus, message, reason, error);
      if (!(error instanceof Undecodable)) consumer.onDeadLetter?.(message);
      message.term(reason);
    } catch (err) {
      log.error({ err, subject: message.subject }, "bus: dead letter not stored, retrying");
      retryLater();
    }
  }
}

/** Undefined if the message should be retried, as it always is while a dependency is unavailable. */
function deadLetterReason(error: unknown, deliveryCount: number): string | undefined {
  if (error instanceof Undecodable) return "undecodable";
  if (error instanceof Unavailable) return undefined;
  return deliveryCount >= MAX_DELIVERIES ? "failed too often" : undefined;
}

const backoffMs = (deliveryCount: number): number => Math.min(MAX_BACKOFF_MS, 100 * 2 ** Math.min(deliveryCount, 10));
