import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Logger } from "pino";
import { watchQueries } from "./hungQueries.ts";

const TICK_MS = 400;
const BEAT_MS = 100;
/** A timer this late means that the process was stopped or busy, which says nothing about the database. */
const LATE_MS = 200;
/** After a pause this long, the timers of all queries restart. */
const STOPPED_MS = 1_000;
const ANSWER_MS = 800;
/** Silence after which the database counts as unreachable. */
const SILENCE_MS = 1_600;

/** Whether this process reaches the database. */
export interface Reach {
  isReachable(): boolean;
  /** Calls `listener` at each change. Returns a function that unsubscribes it. */
  onChange(listener: (isReachable: boolean) => void): () => void;
}

interface Options {
  pool: pg.Pool;
  url: string;
  /** Name of the pool's connections. */
  name: string;
  logger: Logger;
  /** Called for each connection that was replaced because the network had dropped it silently. */
  onReplaced(): void;
}

/** Rejects if the answer takes too long. A late answer is ignored. */
async function withDeadline<T>(ms: number, work: Promise<T>): Promise<T> {
  const timer = new AbortController();
  const late = sleep(ms, undefined, { signal: timer.signal }).then(
    () => Promise.reject(new Error(`no answer within ${ms} ms`)),
    () => new Promise<never>(() => {}),
  );
  return Promise.race([work, late]).finally(() => timer.abort());
}

/** A dedicated connection, so that it works when all others hang. */
function openObserver({ url, name }: Options) {
  let client: pg.Client | undefined;
  const close = (): void => {
    client?.end().catch(() => {});
    (client as unknown as { connection: { stream: { destroy(): void } } } | undefined)?.connection.stream.destroy();
    client = undefined;
  };
  return {
    close,
    async use<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
      try {
        if (!client) {
          client = new pg.Client({ connectionString: url, application_name: name });
          client.on("error", () => {});
          await withDeadline(ANSWER_MS, client.connect());
        }
        return await withDeadline(ANSWER_MS, work(client));
      } catch (error) {
        close();
        throw error;
      }
    },
  };
}

/** Measures how long the database has been silent. Time in which this process was blocked or stopped does not count. */
function trackSilence(onStopped: () => void) {
  let answeredAt = performance.now();
  let beatAt = answeredAt;
  const forgive = (): void => {
    const now = performance.now();
    const late = now - beatAt - BEAT_MS;
    beatAt = now;
    if (late >= STOPPED_MS) onStopped();
    if (late >= LATE_MS) answeredAt = Math.min(now, answeredAt + late);
  };
  const beating = setInterval(forgive, BEAT_MS).unref();
  return {
    answered: () => void (answeredAt = performance.now()),
    isSilent(): boolean {
      // other timers may run before the beat's own
      forgive();
      return performance.now() - answeredAt >= SILENCE_MS;
    },
    stop: () => clearInterval(beating),
  };
}

/**
 * Checks twice a second whether the database answers, and replaces connections of the pool that were dropped silently. One such
 * connection must not stop the process, because appends go through one connection at a time.
 */
export function watchReach(options: Options): Reach & { stop(): Promise<void> } {
  const { pool, name, logger } = options;
  const queries = watchQueries(pool, name);
  const observer = openObserver(options);
  const listeners = new Set<(isReachable: boolean) => void>();
  const stopped = new AbortController();
  let isReachable = true;
  const silence = trackSilence(() => queries.forgive());
  // any answer counts: a busy database may be slow to accept another connection
  pool.on("release", (error: unknown) => {
    if (!error) silence.answered();
  });

  const set = (next: boolean): void => {
    if (next === isReachable) return;
    isReachable = next;
    if (next) logger.info("database reachable again");
    else logger.error("database not reachable");
    for (const listener of listeners) listener(next);
  };

  const look = async (): Promise<void> => {
    try {
      const count = await observer.use((client) => queries.check(client));
      silence.answered();
      if (count > 0) logger.error({ count }, "database connections dropped silently, replaced");
      for (let n = 0; n < count; n++) options.onReplaced();
    } catch (err) {
      logger.debug({ err }, "database does not answer");
    }
    if (!stopped.signal.aborted) set(!silence.isSilent());
  };

  const watching = (async () => {
    while (!stopped.signal.aborted) {
      await look();
      await sleep(TICK_MS, undefined, { signal: stopped.signal }).catch(() => {});
    }
  })();

  return {
    isReachable: () => isReachable,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async stop() {
      stopped.abort();
      silence.stop();
      observer.close();
      await watching;
    },
  };
}
