import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { JetStreamApiCodes, JetStreamApiError, jetstreamManager, type JetStreamManager } from "@nats-io/jetstream";
import { addConsumer, type ConsumerSpec } from "./addConsumer.ts";
import type { Connection } from "./connection.ts";
import { createFaultReports } from "./faultReports.ts";
import { createHealer, type Healer } from "./healing.ts";
import type { Names } from "./names.ts";
import { streamSpecs, type StreamLimits, type StreamSpec } from "./streamSpecs.ts";

const CHECK_MS = 30_000;
/** Interval of comparing consumers with their streams. Reconnects and silence trigger it earlier. */
const HEAL_MS = 5_000;
/** Maximum wait at the start: a new cluster has no leader for some seconds, and answers with 10008 or not at all. */
const FIRST_LEADER_MS = 30_000;
const CLUSTER_NOT_AVAILABLE = 10_008;
const NO_SUITABLE_PEERS = 10_005;
/** With this text, a server of the cluster is restarting. Other texts mean that the cluster has too few servers. */
const isPeerOffline = ({ code, message }: JetStreamApiError): boolean =>
  code === NO_SUITABLE_PEERS && message.includes("peer offline");
/** Attempts to create a stream. The server reports overlapping subjects while another process creates the same one. */
const MAX_ATTEMPTS = 5;
const RETRY_MS = 100;

export interface Streams extends Healer {
  jsm: JetStreamManager;
  /** Creates what is missing. Concurrent calls share one run. */
  repair(): Promise<void>;
  close(): void;
}

/** Creates all streams and durable consumers. Checks their settings at reconnects and every 30 s, and compares consumers with streams every 5 s. */
export async function openStreams(connection: Connection, names: Names, limits: StreamLimits): Promise<Streams> {
  const jsm = await jetstreamManager(connection.nc, { checkAPI: false });
  const warned = new Set<string>();
  const { report } = createFaultReports(connection, names);
  const noteUnreadable = (name: string) => (err: unknown) => {
    connection.log.error({ err, name }, "bus: consumer's file cannot be read, consumer is in memory");
    report("consumer_unreadable");
  };
  const ensureAll = async () => {
    requireCluster(connection, names, limits);
    for (const { stream, consumer } of streamSpecs(names, limits)) {
      warnIgnored(connection, warned, stream.name, stream, await ensureStream(jsm, stream));
      if (!consumer) continue;
      const name = `${stream.name}/${consumer.durable_name}`;
      const ensured = await ensureConsumer(jsm, stream.name, consumer, noteUnreadable(name));
      warnIgnored(connection, warned, name, consumer, ensured);
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
  const { heal } = createHealer(connection, jsm, names);
  const check = () => {
    if (connection.isConnected())
      repair().catch((err) => connection.log.warn({ err }, "bus: streams not checked, retrying in 30 s"));
  };
  await retryUntilElected(repair);
  await heal();
  const timers = [setInterval(check, CHECK_MS).unref(), setInterval(() => void heal(), HEAL_MS).unref()];
  const unsubscribe = connection.onReconnect(() => {
    check();
    void heal();
  });
  return {
    jsm,
    repair,
    heal,
    close() {
      timers.forEach(clearInterval);
      unsubscribe();
    },
  };
}

async function ensureStream(jsm: JetStreamManager, spec: StreamSpec, attempts = MAX_ATTEMPTS): Promise<object> {
  const found = await orUndefined(jsm.streams.info(spec.name), JetStreamApiCodes.StreamNotFound);
  if (found && differences(spec, found.config).length === 0) return found.config;
  try {
    const { config } = found
      ? await jsm.streams.update(spec.name, { ...found.config, ...spec })
      : await jsm.streams.add(spec);
    return config;
  } catch (cause) {
    if (isElecting(cause)) throw cause;
    const hasReplicas = !found || spec.num_replicas === undefined || found.config.num_replicas === spec.num_replicas;
    if (found && hasReplicas) return found.config;
    if (cause instanceof JetStreamApiError && attempts > 1) {
      await sleep(RETRY_MS);
      return ensureStream(jsm, spec, attempts - 1);
    }
    if ((spec.num_replicas ?? 1) > 1) throw tooFewServers(spec.num_replicas!, spec.name, cause);
    const problem = `The stream ${spec.name} (${spec.max_bytes} bytes) cannot be created`;
    throw new Error(`${problem}: ${String(cause)}`, { cause });
  }
}

const tooFewServers = (replicas: number, stream: string, cause: unknown) =>
  new Error(
    `NATS_REPLICAS is ${replicas}, and the stream ${stream} cannot be stored on that many servers: ${String(cause)}`,
    { cause },
  );

/** A server outside a cluster accepts any number of replicas for an existing stream, and stores one. */
function requireCluster({ nc }: Connection, { streams }: Names, { replicas = 1 }: StreamLimits): void {
  if (replicas > 1 && !nc.info?.cluster)
    throw tooFewServers(replicas, streams.commands, new Error(`${nc.getServer()} is in no cluster`));
}

async function retryUntilElected(work: () => Promise<void>): Promise<void> {
  for (const until = performance.now() + FIRST_LEADER_MS; ; await sleep(250)) {
    try {
      return await work();
    } catch (error) {
      if (!isElecting(error) || performance.now() > until) throw error;
    }
  }
}

/**
 * Whether the stream has no leader now, or too few servers temporarily: the server reports it, or does not answer
 * (docs/adr/0018-commands-wait-for-a-nats-election.md).
 */
export const isElecting = (error: unknown): boolean =>
  error instanceof JetStreamApiError
    ? error.code === CLUSTER_NOT_AVAILABLE || isPeerOffline(error)
    : error instanceof Error && error.name === "TimeoutError";

async function ensureConsumer(
  jsm: JetStreamManager,
  stream: string,
  spec: ConsumerSpec,
  onUnreadable: (refusal: unknown) => void,
): Promise<object> {
  const found = await orUndefined(jsm.consumers.info(stream, spec.durable_name), JetStreamApiCodes.ConsumerNotFound);
  if (!found) return (await addConsumer(jsm, stream, spec, onUnreadable)).config;
  if (differences(spec, found.config).length === 0) return found.config;
  return (await jsm.consumers.update(stream, spec.durable_name, { ...found.config, ...spec })).config;
}

/** The answer; undefined if JetStream knows no such thing. */
export async function orUndefined<T>(request: Promise<T>, missingCode: number): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === missingCode) return undefined;
    throw error;
  }
}

const differences = (wanted: object, actual: object): string[] =>
  Object.entries(wanted).flatMap(([key, value]) => (isDeepStrictEqual(value, Reflect.get(actual, key)) ? [] : [key]));

/** Warns of settings that older servers silently ignore. */
function warnIgnored({ log }: Connection, warned: Set<string>, name: string, wanted: object, actual: object): void {
  const ignored = differences(wanted, actual);
  if (ignored.length === 0 || warned.has(name)) return;
  warned.add(name);
  log.warn({ name, ignored }, "bus: server ignores fields of a stream or consumer, it may be too old");
}
