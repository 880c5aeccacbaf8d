import { dropOldest } from "#events/dropOldest.ts";

const MAX_KEYS = 10_000;

/**
 * Wrapped keys that this process created recently: the next events of the same stream need no look-up.
 * A key that another process has erased meanwhile does no harm: its stream has a newer version, and the append conflicts.
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
