import { setTimeout as sleep } from "node:timers/promises";
import { JetStreamApiCodes, JetStreamApiError, type ConsumerInfo, type JetStreamManager } from "@nats-io/jetstream";
import type { Connection } from "./connection.ts";
import { findConsumerFault, isSuspicious, type ConsumerSnapshot } from "./consumerFault.ts";
import { createFaultReports } from "./faultReports.ts";
import type { Names } from "./names.ts";

/** Time between the two looks that confirm a fault. The random part keeps processes from repairing the same consumer at once. */
const CONFIRM_MS = 400;
const CONFIRM_JITTER_MS = 200;
/** Minimum time between two runs triggered by silence. */
const MIN_INTERVAL_MS = 1_000;

export interface Healer {
  /** Compares every durable consumer with its stream, and recreates those that would miss messages. Never throws. */
  heal(): Promise<void>;
}

async function look(jsm: JetStreamManager, stream: string): Promise<ConsumerSnapshot[]> {
  const consumers: ConsumerInfo[] = [];
  for await (const consumer of jsm.consumers.list(stream)) if (consumer.config.durable_name) consumers.push(consumer);
  if (consumers.length === 0) return [];
  const info = await jsm.streams.info(stream);
  return consumers.map((consumer) => ({ consumer, stream: info }));
}

/**
 * Recreates the consumer with the same settings, starting at the first message in the stream, so that some messages are delivered
 * twice. Commands answer the second delivery from their outcome, and feed subscribers skip positions they have seen.
 */
async function recreate(jsm: JetStreamManager, { stream_name, name, config }: ConsumerInfo): Promise<void> {
  const { opt_start_seq: _seq, opt_start_time: _time, ...settings } = config;
  await jsm.consumers.delete(stream_name, name).catch((error: unknown) => {
    const isGone = error instanceof JetStreamApiError && error.code === JetStreamApiCodes.ConsumerNotFound;
    if (!isGone) throw error;
  });
  await jsm.consumers.add(stream_name, { ...settings, deliver_policy: "all" });
}

/** Repairs consumers that would deliver nothing forever: after a power cut, a stream can be older than its consumers. */
export function createHealer(connection: Connection, jsm: JetStreamManager, names: Names): Healer {
  const { log } = connection;
  const { report } = createFaultReports(connection, names);
  const { frames: _, ...streams } = names.streams;

  const healStream = async (stream: string): Promise<void> => {
    const before = (await look(jsm, stream)).filter(isSuspicious);
    if (before.length === 0) return;
    await sleep(CONFIRM_MS + Math.random() * CONFIRM_JITTER_MS);
    const after = new Map((await look(jsm, stream)).map((one) => [one.consumer.name, one]));
    for (const first of before) {
      const second = after.get(first.consumer.name);
      const fault = second && findConsumerFault(first, second);
      if (!fault) continue;
      await recreate(jsm, first.consumer);
      const { delivered } = first.consumer;
      const { last_seq } = first.stream.state;
      log.error({ stream, consumer: first.consumer.name, fault, delivered, last_seq }, "bus: consumer rebuilt");
      report(`consumer_${fault}`);
    }
  };

  const run = async (): Promise<void> => {
    for (const stream of Object.values(streams))
      await connection
        .during(healStream(stream))
        .catch((err: unknown) => log.warn({ err, stream }, "bus: consumers not compared with their stream, retrying"));
  };

  let running: Promise<void> | undefined;
  let ended = -Infinity;
  return {
    async heal() {
      if (!connection.isConnected() || (!running && performance.now() - ended < MIN_INTERVAL_MS)) return;
      running ??= run().finally(() => {
        running = undefined;
        ended = performance.now();
      });
      await running;
    },
  };
}
