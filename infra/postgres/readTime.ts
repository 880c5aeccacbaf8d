import { AsyncLocalStorage } from "node:async_hooks";
import pg from "pg";
import { Unavailable } from "#events/ports.ts";

/** A query that takes longer is slow: it may wait for a lock, or for a disk that is stalled. */
const SLOW_MS = 1_500;
/** Slow queries that keep their connection while others wait for one. A pool has twelve. */
const MAX_SLOW = 4;
const RETRY_AFTER_MS = 2_000;

const current = new AsyncLocalStorage<() => number>();

/** Each query of the work ends so many milliseconds after its start, whatever it waits for. */
export const withReadTime = <T>(timeLeft: () => number, work: () => T): T => current.run(timeLeft, work);

/** When a query that the running code makes now has to end, on the monotonic clock; undefined: whenever it is answered. */
export function readDeadline(): number | undefined {
  const timeLeft = current.getStore();
  return timeLeft && performance.now() + timeLeft();
}

const late = (message: string): Unavailable => new Unavailable(message, { retry_after_ms: RETRY_AFTER_MS });

/** Rejects at the deadline. A connection that comes later goes back. */
async function acquireBy(pool: pg.Pool, deadline: number): Promise<pg.PoolClient> {
  const acquired = pool.connect();
  const expired = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    expired.reject(late("No connection to the database was free in time."));
    acquired.then(
      (client) => client.release(),
      () => {},
    );
  }, deadline - performance.now());
  return Promise.race([acquired, expired.promise]).finally(() => clearTimeout(timer));
}

/**
 * Runs a query that ends at a deadline. Its connection is then closed, which ends the query on the server too, so that the pool
 * opens another one. A few slow queries may not take all connections: while others wait for one, only `MAX_SLOW` stay until
 * their deadline.
 */
export function limitReadTime(pool: pg.Pool) {
  const slow = new Map<string, number>();
  let slowCount = 0;

  const isCrowded = (): boolean => slowCount >= MAX_SLOW && pool.waitingCount > 0;
  const count = (text: string, by: 1 | -1): void => {
    slowCount += by;
    slow.set(text, (slow.get(text) ?? 0) + by);
    if (slow.get(text) === 0) slow.delete(text);
  };

  /** Rejects when the query has to end. */
  function watch(text: string, deadline: number) {
    const expired = Promise.withResolvers<never>();
    let [isSlow, isOver] = [false, false];
    const check = (): void => {
      if (isOver) return;
      if (performance.now() >= deadline || (!isSlow && isCrowded()))
        return expired.reject(late("The database did not answer in time."));
      if (!isSlow) count(text, 1);
      isSlow = true;
      wait();
    };
    // an answer that has arrived while the event loop was busy counts
    let timer: NodeJS.Timeout;
    const wait = (): void => {
      const left = deadline - performance.now();
      timer = setTimeout(() => setImmediate(check), isSlow ? left : Math.min(SLOW_MS, left));
    };
    wait();
    const stop = (): void => {
      isOver = true;
      clearTimeout(timer);
      if (isSlow) count(text, -1);
    };
    return { expired: expired.promise, stop };
  }

  return async (query: pg.QueryConfig, deadline: number): Promise<pg.QueryResult> => {
    const client = await acquireBy(pool, deadline);
    // the same query waits for something already, and this one would only keep another connection
    if (isCrowded() && slow.has(query.text)) {
      client.release();
      throw late("The database does not answer this query now.");
    }
    const { expired, stop } = watch(query.text, deadline);
    const answer = client.query(query);
    try {
      const result = await Promise.race([answer, expired]);
      client.release();
      return result;
    } catch (error) {
      answer.catch(() => {});
      client.release(error as Error);
      throw error;
    } finally {
      stop();
    }
  };
}
