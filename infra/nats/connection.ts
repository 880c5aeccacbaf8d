import { EventEmitter, once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { connect, type ConnectionOptions, type NatsConnection } from "@nats-io/transport-node";
import type { Logger } from "pino";
import { Unavailable } from "#events/ports.ts";
import { SUBJECT_TOKEN } from "./names.ts";
import { openPubSub, type PubSub } from "./pubSub.ts";

const FIRST_CONNECT_MS = 30_000;

export interface Connection {
  nc: NatsConnection;
  /** The prefix of reply subjects of this user, so that its permissions can be limited to its own. */
  inboxPrefix: string;
  log: Logger;
  pubSub: PubSub;
  isConnected(): boolean;
  /** Milliseconds since the connection was lost; 0 while connected. */
  lostFor(): number;
  /** Number of the current connection. Messages in flight on an earlier one may be lost. */
  epoch(): number;
  onReconnect(listener: () => void): () => void;
  /** Resolves when connected, or when the connection is closed for good. Rejects when the signal aborts. */
  whenConnected(signal: AbortSignal): Promise<void>;
  /** Rejects as soon as the connection is lost, because a request on it never gets an answer. */
  during<T>(request: Promise<T>): Promise<T>;
}

/** Connects, and reconnects forever. Throws when no server answers within the first 30 s. */
export async function openConnection(options: { url: string; name: string; log: Logger }): Promise<Connection> {
  const { log } = options;
  const settings = connectionOptions(options);
  const nc = await firstConnect(settings, options);
  const change = new EventEmitter().setMaxListeners(0);
  let isConnected = true;
  let lostAt = 0;
  let epoch = 0;
  const follow = async () => {
    for await (const status of nc.status()) {
      if (status.type === "disconnect" && isConnected) {
        isConnected = false;
        lostAt = performance.now();
        log.warn({ server: status.server }, "bus: connection lost, reconnecting");
        change.emit("lost");
      } else if (status.type === "reconnect") {
        isConnected = true;
        epoch += 1;
        log.info({ server: status.server }, "bus: reconnected");
        change.emit("reconnected");
        change.emit("settled");
      } else if (status.type === "error") log.error({ err: status.error }, "bus: server reports an error");
    }
    if (isConnected) lostAt = performance.now();
    isConnected = false;
    change.emit("lost");
    change.emit("settled");
  };
  void follow();
  return {
    nc,
    inboxPrefix: settings.inboxPrefix,
    log,
    pubSub: openPubSub({ nc, log }),
    isConnected: () => isConnected,
    lostFor: () => (isConnected ? 0 : performance.now() - lostAt),
    epoch: () => epoch,
    onReconnect(listener) {
      change.on("reconnected", listener);
      return () => change.off("reconnected", listener);
    },
    async whenConnected(signal) {
      if (!isConnected && !nc.isClosed()) await once(change, "settled", { signal });
    },
    during(request) {
      const { promise, reject } = Promise.withResolvers<never>();
      const lost = () => reject(new Unavailable("The connection to the bus was lost"));
      if (isConnected) change.once("lost", lost);
      else lost();
      return Promise.race([request, promise]).finally(() => change.off("lost", lost));
    },
  };
}

/** The library's defaults give up after 20 s, and notice a silent disconnect only after minutes. */
function connectionOptions({ url, name }: { url: string; name: string }) {
  const urls = url.split(",").map((one) => new URL(one.trim()));
  const { username, password, protocol } = urls[0]!;
  return {
    inboxPrefix: password && SUBJECT_TOKEN.test(username) ? `_INBOX.${username}` : "_INBOX",
    servers: urls.map((one) => one.host),
    name,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    reconnectJitter: 250,
    pingInterval: 1000,
    maxPingOut: 2,
    timeout: 3000,
    ignoreAuthErrorAbort: true,
    noAsyncTraces: true,
    noEcho: true,
    ...(protocol === "tls:" ? { tls: {} } : {}),
    ...(password ? { user: decodeURIComponent(username), pass: decodeURIComponent(password) } : {}),
    ...(username && !password ? { token: decodeURIComponent(username) } : {}),
  } satisfies ConnectionOptions;
}

async function firstConnect(settings: ConnectionOptions, { log }: { log: Logger }): Promise<NatsConnection> {
  const servers = String(settings.servers);
  const until = performance.now() + FIRST_CONNECT_MS;
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await connect(settings);
    } catch (cause) {
      if (performance.now() > until)
        throw new Error(`No NATS server answers at ${servers}: ${String(cause)}`, { cause });
      if (attempt === 0) log.warn({ servers, err: cause }, "bus: no server answers, retrying for 30 s");
      await delay(250);
    }
  }
}

/** Closes the connection. While connected, sends what is buffered first. */
export async function closeConnection({ nc, pubSub, isConnected }: Connection): Promise<void> {
  pubSub.flush();
  if (isConnected()) await Promise.race([nc.drain().catch(() => {}), delay(2000, undefined, { ref: false })]);
  await nc.close();
}
