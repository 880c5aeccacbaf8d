import { dropOldest } from "#events/dropOldest.ts";

const MAX_KEYS = 10_000;

/**
 * Wrapped keys that this process created recently: later events of the same stream need no look-up. A key erased by another process
 * does no harm, because its stream has a newer version, so the append conflicts.
 */
export function createRecentKeys() {
  const keys = new Map<string, string>();
  return {
    add(created: { thing: string; wrapped: string }[]): void {
      for (const { thing, wrapped } of created) keys.set(thing, wrapped);
      dropOldest(keys, MAX_KEYS);
    },
    find: (things: string[]): Map<string, string> =>
      new Map(things.flatMap((thing) => (keys.has(thing) ? [[thing, keys.get(thing)!]] : []))),
  };
}
