import { createTurnstile } from "#services/sharing/turnstile.ts";

/**
 * Batches look-ups: one query takes all keys requested in the same turn of the event loop or during the previous query. A query
 * always starts after the calls that it answers. With 32 concurrent requests, eight share a round trip; a single request costs
 * nothing extra. Only a few answered callers resume per turn of the event loop.
 */
export function batchLookups<V>(
  find: (keys: string[]) => Promise<Map<string, V>>,
): (keys: string[]) => Promise<Map<string, V>> {
  const turnstile = createTurnstile();
  let requested = new Set<string>();
  let next: Promise<Map<string, V>> | undefined;
  let current: Promise<unknown> = Promise.resolve();

  const startNext = async (): Promise<Map<string, V>> => {
    await current;
    await new Promise((resolve) => setImmediate(resolve));
    const keys = [...requested];
    requested = new Set();
    next = undefined;
    const found = find(keys);
    current = found.catch(() => {});
    return found;
  };

  return async (keys) => {
    if (keys.length === 0) return new Map();
    for (const key of keys) requested.add(key);
    next ??= startNext();
    const found = await next;
    await turnstile.pass();
    return new Map(keys.flatMap((key) => (found.has(key) ? [[key, found.get(key)!]] : [])));
  };
}
