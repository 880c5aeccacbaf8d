/** How long a fetched value is fresh, and how long a failed fetch is not repeated. */
const FRESH_MS = 5 * 60_000;
const RETRY_MS = 30_000;
/** Timeout after which a provider counts as unreachable. */
const TIMEOUT_MS = 3_000;

/**
 * A value published by a provider, cached in this process. Only one fetch runs at a time, and a failed fetch keeps the last value.
 * The methods never throw and take at most 3 s; they return undefined until a fetch has succeeded.
 */
export interface RefreshingCache<T> {
  /** Waits only for the first fetch. Later, a stale value is returned at once and refreshed in the background. */
  get(): Promise<T | undefined>;
  /** Waits for the refresh of a stale value. */
  getFresh(): Promise<T | undefined>;
}

export function refreshingCache<T>(fetch: (signal: AbortSignal) => Promise<T>): RefreshingCache<T> {
  let value: T | undefined;
  let hasFetched = false;
  let refreshAt = Number.NEGATIVE_INFINITY;
  let refreshing: Promise<void> | undefined;

  async function refresh(): Promise<void> {
    try {
      value = await fetch(AbortSignal.timeout(TIMEOUT_MS));
      refreshAt = performance.now() + FRESH_MS;
    } catch {
      refreshAt = performance.now() + RETRY_MS;
    }
    hasFetched = true;
    refreshing = undefined;
  }
  const refreshIfStale = (): Promise<void> | undefined =>
    performance.now() < refreshAt ? undefined : (refreshing ??= refresh());

  return {
    async get() {
      const refreshed = refreshIfStale();
      if (!hasFetched) await refreshed;
      return value;
    },
    async getFresh() {
      await refreshIfStale();
      return value;
    },
  };
}
