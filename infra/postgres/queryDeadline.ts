import { AsyncLocalStorage } from "node:async_hooks";
import pg from "pg";
import { Unavailable } from "#events/ports.ts";

/** A query that takes longer is slow: it may wait for a lock or for a stalled disk. */
const SLOW_MS = 1_500;
/** Slow queries that keep their connection while others wait for one. A pool has twelve. */
const MAX_SLOW = 4;
const RETRY_AFTER_MS = 2_000;

const current = new AsyncLocalStorage<() => number>();

/** Ends each query of the work `timeLeft` milliseconds after its start, whatever it waits for. */
export const withQueryDeadline = <T>(timeLeft: () => number, work: () => T): T => current.run(timeLeft, work);

/** The deadline for a query started now, on the monotonic clock; undefined: none. */
export function findQueryDeadline(): number | undefined {
  const timeLeft = current.getStore();
  return timeLeft && performance.now() + timeLeft();
}

const late = (message: string): Unavailable => new Unavailable(message, { retry_after_ms: RETRY_AFTER_MS });

/** Interval of checking running queries. One timer for all, because a timer each would be noticeable for a query of a millisecond. */
const LOOK_MS = 100;

interface RunningQuery {
  text: string;
  /** When it got its connection, on the monotonic clock; Infinity before that. */
  began: number;
  deadline: number;
  isSlow: boolean;
  /** Ends it with an error. */
  end(error: Error): void;
}

/** Tracks running queries until they are answered or ended. `isCrowded`: a few slow ones hold connections while others wait for one. */
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
  // an answer that arrived while the event loop was busy counts
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
 * Runs queries that end at their deadline, at most a tenth of a second late. Ending a query closes its connection, which also ends
 * it on the server; the pool opens another one. Slow queries must not take all connections: while others wait for one, only
 * `MAX_SLOW` stay until their deadline.
 */
export function limitQueryTime(pool: pg.Pool) {
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
        // if the pool found no connection in time, `done` is missing, whatever the types say
        if (error || !client) return end(error ?? new Error("no connection"));
        // its time was over before a connection was free
        if (isOver) return done();
        // a stopping server reports that outside the query, too
        client.on("error", end);
        release = (failure) => {
          done(failure);
          client.removeListener("error", end);
        };
        // the same query is waiting already, and this one would only hold another connection
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
