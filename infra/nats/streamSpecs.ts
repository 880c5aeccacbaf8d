import type { StreamConfig } from "@nats-io/jetstream";
import { DAY_MS, HOUR_MS, MIB } from "#events/units.ts";
import { nanos } from "@nats-io/transport-node";
import type { ConsumerSpec } from "./addConsumer.ts";
import type { Names } from "./names.ts";

const HOUR = nanos(HOUR_MS);
/** How long other services can read an event of the feed. */
export const FEED_RETENTION_MS = 7 * DAY_MS;

export interface StreamLimits {
  commands_max_bytes: number;
  /** Size of the frame stream, which organizations share (frameShares.ts). */
  frames_max_bytes: number;
  /** Size of the feed. */
  events_max_bytes: number;
  /** Unacknowledged messages are redelivered after this time. A live worker extends it every sixth of it. */
  ack_wait_ms: number;
  /** Servers of a cluster that store each stream. Undefined leaves existing streams unchanged. */
  replicas?: number;
}
export const defaultLimits: StreamLimits = {
  commands_max_bytes: 256 * MIB,
  frames_max_bytes: 256 * MIB,
  events_max_bytes: 256 * MIB,
  ack_wait_ms: 4_000,
};

export type StreamSpec = Partial<StreamConfig> & { name: string };
export interface Spec {
  stream: StreamSpec;
  consumer?: ConsumerSpec;
}

/** The deployment's streams and durable consumers. Work queues refuse messages when full, the other streams drop the oldest. */
export function streamSpecs(names: Names, limits: StreamLimits): Spec[] {
  const { replicas } = limits;
  const specs = [...queueSpecs(names, limits), ...recordSpecs(names, limits)];
  if (replicas === undefined) return specs;
  return specs.map((spec) => ({ ...spec, stream: { ...spec.stream, num_replicas: replicas } }));
}

function queueSpecs({ streams, all, durables }: Names, limits: StreamLimits): Spec[] {
  const queue = { retention: "workqueue", discard: "new", storage: "file", max_age: HOUR } as const;
  const worker = {
    ack_policy: "explicit",
    ack_wait: nanos(limits.ack_wait_ms),
    max_deliver: -1,
    max_ack_pending: 1000,
  } as const;
  return [
    {
      stream: { ...queue, name: streams.commands, subjects: [all.commands], max_bytes: limits.commands_max_bytes },
      consumer: { ...worker, durable_name: durables.commands },
    },
    {
      stream: { ...queue, name: streams.reactions, subjects: [all.reactions], max_bytes: 64 * MIB },
      consumer: { ...worker, durable_name: durables.reactions },
    },
  ];
}

function recordSpecs({ streams, all }: Names, limits: StreamLimits): Spec[] {
  // frames are on disk as well: after the server is killed, the next worker of a turn must know what its readers have received
  const record = { storage: "file", discard: "old" } as const;
  return [
    {
      stream: {
        ...record,
        name: streams.frames,
        subjects: [all.frames],
        max_age: HOUR,
        max_bytes: limits.frames_max_bytes,
        allow_direct: true,
      },
    },
    { stream: { ...record, name: streams.dead, subjects: [all.dead], max_age: 24 * HOUR, max_bytes: 64 * MIB } },
    {
      stream: {
        ...record,
        name: streams.events,
        subjects: [all.events],
        max_age: nanos(FEED_RETENTION_MS),
        max_bytes: limits.events_max_bytes,
      },
    },
  ];
}
