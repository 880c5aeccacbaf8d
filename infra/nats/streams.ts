import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import {
  JetStreamApiCodes,
  JetStreamApiError,
  jetstreamManager,
  type ConsumerConfig,
  type JetStreamManager,
  type StreamConfig,
} from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import type { Connection } from "./connection.ts";
import type { Names } from "./names.ts";

const MIB = 1024 * 1024;
const HOUR = nanos(3_600_000);
const CHECK_MS = 30_000;
/** How long other services can still read what the feed told. */
export const FEED_KEPT_MS = 7 * 24 * 3_600_000;
/** A cluster that has just begun has no leader for some seconds; then JetStream says 10008, or nothing. */
const FIRST_LEADER_MS = 30_000;
const CLUSTER_NOT_AVAILABLE = 10_008;

export interface Limits {
  commands_max_bytes: number;
  /** What other services can still read of the feed. */
  events_max_bytes: number;
  ack_wait_ms: number;
  /** On how many servers of a cluster each stream is kept; left out, streams that are there stay as they are. */
  replicas?: number;
}
/** What a killed or stopped process had in hand goes to another one after `ack_wait`; who lives says so every sixth of it. */
export const defaultLimits: Limits = {
  commands_max_bytes: 256 * MIB,
  events_max_bytes: 256 * MIB,
  ack_wait_ms: 4_000,
};

export interface Streams {
  jsm: JetStreamManager;
  /** Makes what is missing; calls made at the same time share one run. */
  repair(): Promise<void>;
  close(): void;
}

type StreamSpec = Partial<StreamConfig> & { name: string };
type ConsumerSpec = Partial<ConsumerConfig> & { durable_name: string };
interface Spec {
  stream: StreamSpec;
  consumer?: ConsumerSpec;
}

/** Makes all streams and durable consumers, and again whenever they are found missing: at reconnects and every 30 s. */
export async function openStreams(connection: Connection, names: Names, limits: Limits): Promise<Streams> {
  const jsm = await jetstreamManager(connection.nc, { checkAPI: false });
  const warned = new Set<string>();
  const ensureAll = async () => {
    refuseAlone(connection, names, limits);
    for (const { stream, consumer } of specs(names, limits)) {
      warnIgnored(connection, warned, stream.name, stream, await ensureStream(jsm, stream));
      if (!consumer) continue;
      const name = `${stream.name}/${consumer.durable_name}`;
      warnIgnored(connection, warned, name, consumer, await ensureConsumer(jsm, stream.name, consumer));
    }
  };
  let running: { epoch: number; done: Promise<void> } | undefined;
  const repair = () => {
    const epoch = connection.epoch();
    if (running?.epoch !== epoch) {
      const done = connection.during(ensureAll()).finally(() => {
        if (running?.done === done) running = undefined;
      });
      running = { epoch, done };
    }
    return running.done;
  };
  const check = () => {
    if (connection.connected())
      repair().catch((err) => connection.log.warn({ err }, "bus: could not check the streams"));
  };
  await onceElected(repair);
  const timer = setInterval(check, CHECK_MS).unref();
  const forget = connection.onReconnect(check);
  return {
    jsm,
    repair,
    close() {
      clearInterval(timer);
      forget();
    },
  };
}

/** Commands and wake-ups wait in work queues that refuse when full; frames drop the oldest; dead letters wait a day, the feed a week. */
function specs(names: Names, limits: Limits): Spec[] {
  const { replicas } = limits;
  const on = (spec: Spec) => ({ ...spec, stream: { ...spec.stream, num_replicas: replicas } });
  return replicas === undefined ? shapes(names, limits) : shapes(names, limits).map(on);
}

function shapes({ streams, all, durables }: Names, limits: Limits): Spec[] {
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
    {
      stream: {
        name: streams.frames,
        subjects: [all.frames],
        // a server that is killed keeps them: who takes a turn over must know what its readers have seen
        storage: "file",
        discard: "old",
        max_age: HOUR,
        max_bytes: 256 * MIB,
        allow_direct: true,
      },
    },
    {
      stream: {
        name: streams.dead,
        subjects: [all.dead],
        storage: "file",
        discard: "old",
        max_age: 24 * HOUR,
        max_bytes: 64 * MIB,
      },
    },
    {
      // for other services, which may be away for days
      stream: {
        name: streams.events,
        subjects: [all.events],
        storage: "file",
        discard: "old",
        max_age: nanos(FEED_KEPT_MS),
        max_bytes: limits.events_max_bytes,
      },
    },
  ];
}

/** Another process may be making the same stream at this moment; the server then says that subjects overlap. */
const TRIES = 5;
const AGAIN_MS = 100;

async function ensureStream(jsm: JetStreamManager, spec: StreamSpec, left = TRIES): Promise<object> {
  const found = await orUndefined(jsm.streams.info(spec.name), JetStreamApiCodes.StreamNotFound);
  if (found && differences(spec, found.config).length === 0) return found.config;
  try {
    const { config } = found
      ? await jsm.streams.update(spec.name, { ...found.config, ...spec })
      : await jsm.streams.add(spec);
    return config;
  } catch (cause) {
    if (isElecting(cause)) throw cause;
    const kept = !found || spec.num_replicas === undefined || found.config.num_replicas === spec.num_replicas;
    if (found && kept) return found.config;
    if (cause instanceof JetStreamApiError && left > 1) {
      await sleep(AGAIN_MS);
      return ensureStream(jsm, spec, left - 1);
    }
    if ((spec.num_replicas ?? 1) > 1) throw tooFewServers(spec.num_replicas!, spec.name, cause);
    throw new Error(`The stream ${spec.name} of ${spec.max_bytes} bytes cannot be made: ${String(cause)}`, { cause });
  }
}

const tooFewServers = (replicas: number, stream: string, cause: unknown) =>
  new Error(
    `NATS_REPLICAS is ${replicas}, and the stream ${stream} cannot be kept on so many servers: ${String(cause)}`,
    { cause },
  );

/** A server that is in no cluster takes any number of replicas for a stream that is there, and keeps it once. */
function refuseAlone({ nc }: Connection, { streams }: Names, { replicas = 1 }: Limits): void {
  if (replicas > 1 && !nc.info?.cluster)
    throw tooFewServers(replicas, streams.commands, new Error(`${nc.getServer()} is in no cluster`));
}

async function onceElected(work: () => Promise<void>): Promise<void> {
  for (const until = Date.now() + FIRST_LEADER_MS; ; await sleep(250)) {
    try {
      return await work();
    } catch (error) {
      if (!isElecting(error) || Date.now() > until) throw error;
    }
  }
}

/** No leader at this moment: it is told so, or nobody answers. */
export const isElecting = (error: unknown): boolean =>
  error instanceof JetStreamApiError
    ? error.code === CLUSTER_NOT_AVAILABLE
    : error instanceof Error && error.name === "TimeoutError";

async function ensureConsumer(jsm: JetStreamManager, stream: string, spec: ConsumerSpec): Promise<object> {
  const found = await orUndefined(jsm.consumers.info(stream, spec.durable_name), JetStreamApiCodes.ConsumerNotFound);
  if (!found) return (await jsm.consumers.add(stream, spec)).config;
  if (differences(spec, found.config).length === 0) return found.config;
  return (await jsm.consumers.update(stream, spec.durable_name, { ...found.config, ...spec })).config;
}

async function orUndefined<T>(asked: Promise<T>, missing: number): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === missing) return undefined;
    throw error;
  }
}

const differences = (asked: object, got: object): string[] =>
  Object.entries(asked).flatMap(([key, value]) => (isDeepStrictEqual(value, Reflect.get(got, key)) ? [] : [key]));

/** Older servers drop in silence what they do not know. */
function warnIgnored({ log }: Connection, warned: Set<string>, name: string, asked: object, got: object): void {
  const ignored = differences(asked, got);
  if (ignored.length === 0 || warned.has(name)) return;
  warned.add(name);
  log.warn({ name, ignored }, "bus: the server ignores a part of what was asked of it");
}
