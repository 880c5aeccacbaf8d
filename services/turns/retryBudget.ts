import { currentTime } from "#events/clock.ts";
import { dropOldest } from "#events/dropOldest.ts";

/** Maximum share of retries among the requests of the last minute. */
const MAX_SHARE = 0.2;
/** Retries per minute that are always allowed, because a share of little traffic would be none. */
const MIN_RETRIES = 60;
const SLOT_MS = 10_000;
const SLOTS = 6;
/** Providers of organizations that a process remembers; the first added is forgotten first. */
const MAX_KEYS = 10_000;

/** Requests and retries within ten seconds. */
interface Slot {
  /** Number of the slot since the epoch. */
  n: number;
  requests: number;
  retries: number;
}

/** Keeps a failing provider from receiving every request several times. It belongs to one process and is lost with it (ADR 56). */
export interface RetryBudget {
  /** Call it before a first request. `key`: the organization and the provider. */
  countRequest(key: string): void;
  /** Whether a retry may be sent; counts it if so. */
  takeRetry(key: string): boolean;
}

export const retryKey = (organization_id: string, provider: string): string => `${organization_id}/${provider}`;

export function createRetryBudget(now: () => number = currentTime): RetryBudget {
  const slots = new Map<string, Slot[]>();

  /** The slots of the last minute, the newest last. */
  function lastMinute(key: string): Slot[] {
    const n = Math.floor(now() / SLOT_MS);
    const kept = (slots.get(key) ?? []).filter((slot) => slot.n > n - SLOTS);
    if (kept.at(-1)?.n !== n) kept.push({ n, requests: 0, retries: 0 });
    slots.set(key, kept);
    dropOldest(slots, MAX_KEYS);
    return kept;
  }

  return {
    countRequest(key) {
      lastMinute(key).at(-1)!.requests += 1;
    },
    takeRetry(key) {
      const minute = lastMinute(key);
      const sum = (name: "requests" | "retries") => minute.reduce((total, slot) => total + slot[name], 0);
      if (sum("retries") >= Math.max(MIN_RETRIES, Math.floor(sum("requests") * MAX_SHARE))) return false;
      minute.at(-1)!.retries += 1;
      return true;
    },
  };
}
