import { AsyncLocalStorage } from "node:async_hooks";
import pg from "pg";
import { Unavailable } from "#events/ports.ts";

/** A query that takes longer is slow: it may wait for a lock, or for a disk that is stalled. */
const SLOW_MS = 1_500;
/** Slow queries that keep their connection while others wait for one. A pool has twelve. */
const MAX_SLOW = 4;
const RETRY_AFTER_MS = 2_000;

const current = new AsyncLocalStorage<() => number>();

/** Ends each query of the work when `timeLeft` milliseconds have passed since its start, whatever it waits for. */
export const withReadTime = <T>(timeLeft: () => number, work: () => T): T => current.run(timeLeft, work);

/** When a query that the running code makes now has to end, on the monotonic clock; undefined: whenever it is answered. */
export function readDeadline(): number | undefined {
  const timeLeft = current.getStore();
  return timeLeft && performance.now() + timeLeft();
}

const late = (message: string): Unavailable => new Unavailable(message, { retry_after_ms: RETRY_AFTER_MS });

/** How often the running queries are looked at: one timer for all, because a query of a millisecond would feel its own. */
const LOOK_MS = 100;

interface RunningQuery {
  text: string;
  /** When it got its connection, on the monotonic clock; Infinity before. */
  began: number;
  deadline: number;
  isSlow: boolean;
  /** Ends it with an error. */
  end(error: Error): void;
}

/** Queries that run until they are answered or ended. `isCrowded`: a few slow ones have their connections while others wait for one. */
function createRunning(pool: pg.Pool) {
  const queries = new Set<RunningQuery>();
  const slow = new Map<string, number>();
  let slowCount = 0;
  let isLooking = false;

  const isCrowded = (): boolean => slowCount >= MAX_SLOW && pool.waitingCount > 0;
  const count = (text: string, by: 1 | -1): void => {
    slowCount += by;
    slow.set(text, (slow.get(text) ?? 0) + by);
    if (slow.get(text) === 0) slow.delete(text);
  };
  const check = (query: RunningQuery, now: number): void => {
    const isNewlySlow = !query.isSlow && now - query.began >= SLOW_MS;
    if (now >= query.deadline || (isNewlySlow && isCrowded()))
      return query.end(late("The database did not answer in time."));
    if (!isNewlySlow) return;
    query.isSlow = true;
    count(query.text, 1);
  };
  const look = (): void => {
    const now = performance.now();
    for (const query of queries) check(query, now);
    isLooking = queries.size > 0;
    if (isLooking) wait();
  };
  // an answer that has arrived while the event loop was busy counts
  const wait = () => setTimeout(() => setImmediate(look), LOOK_MS);
  return {
    isCrowdedBy: (text: string): boolean => isCrowded() && slow.has(text),
    add(query: RunningQuery): void {
      queries.add(query);
      if (!isLooking) wait();
      isLooking = true;
    },
    remove(query: RunningQuery): void {
      queries.delete(query);
      if (query.isSlow) count(query.text, -1);
    },
  };
}

/**
 * Runs a query that ends at a deadline, at most a tenth of a second later. Its connection is then closed, which ends the query on the
 * server too, so that the pool opens another one. A few slow queries may not take all connections: while others wait for one, only
 * `MAX_SLOW` stay until their deadline.
 */
export function limitReadTime(pool: pg.Pool) {
  const running = createRunning(pool);
  return (query: pg.QueryConfig, deadline: number): Promise<pg.QueryResult> =>
    new Promise((resolve, reject) => {
      let release: ((error?: Error) => void) | undefined;
      let isOver = false;
      const finish = (error?: Error): boolean => {
        if (isOver) return false;
        isOver = true;
        running.remove(entry);
        release?.(error);
        return true;
      };
      const end = (error: Error): void => {
        if (finish(error)) reject(error);
      };
      const entry: RunningQuery = { text: query.text, began: Number.POSITIVE_INFINITY, deadline, isSlow: false, end };
      running.add(entry);
      pool.connect((error, client, done) => {
        // a pool that found no connection in time calls without `done`, whatever its types say
        if (error || !client) return end(error ?? new Error("no connection"));
        // its time was up before a connection was free
        if (isOver) return done();
        // a server that ends says so beside the query, too
        client.on("error", end);
        release = (failure) => {
          done(failure);
          client.removeListener("error", end);
        };
        // the same query waits for something already, and this one would only keep another connection
        if (running.isCrowdedBy(query.text)) {
          if (finish()) reject(late("The database does not answer this query now."));
          return;
        }
        entry.began = performance.now();
        client.query(query, (failure, result) => {
          if (failure) end(failure);
          else if (finish()) resolve(result);
        });
      });
    });
}
