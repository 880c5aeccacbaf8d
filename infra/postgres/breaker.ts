import { Unavailable } from "#events/ports.ts";
import type { Reach } from "./reach.ts";

const RETRY_AFTER_MS = 2_000;

/** Runs work that needs the database. Throws Unavailable at once while the database is unreachable, or when that has lasted for `patience_ms`. */
export type Breaker = <T>(work: () => Promise<T>, patience_ms?: number) => Promise<T>;

/** Fails fast, so that clients get a clean "try again" within seconds instead of waiting for an unreachable database. */
export function createBreaker(reach: Pick<Reach, "isReachable" | "onChange">): Breaker {
  const waiting = new Set<() => void>();
  reach.onChange((isReachable) => {
    if (!isReachable) for (const onLost of waiting) onLost();
  });
  const unavailable = () => new Unavailable("The database cannot be reached.", { retry_after_ms: RETRY_AFTER_MS });
  return async (work, patience_ms = 0) => {
    if (!reach.isReachable()) throw unavailable();
    const lost = Promise.withResolvers<never>();
    let timer: NodeJS.Timeout | undefined;
    const onLost = () => {
      timer = setTimeout(() => reach.isReachable() || lost.reject(unavailable()), patience_ms);
    };
    waiting.add(onLost);
    try {
      return await Promise.race([work(), lost.promise]);
    } finally {
      waiting.delete(onLost);
      clearTimeout(timer);
    }
  };
}
