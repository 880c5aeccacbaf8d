const KEPT = 10_000;

/**
 * Wrapped keys that this process has made lately, so that the events that follow in the same stream need no look-up.
 * A key that another process erased meanwhile does no harm: its stream has moved on then, and the append conflicts.
 */
export function createMadeKeys() {
  const keys = new Map<string, string>();
  return {
    remember(made: { thing: string; wrapped: string }[]): void {
      for (const { thing, wrapped } of made) {
        if (keys.size >= KEPT) keys.delete(keys.keys().next().value!);
        keys.set(thing, wrapped);
      }
    },
    /** Those of the things that are remembered. */
    among: (things: string[]): Map<string, string> =>
      new Map(things.flatMap((thing) => (keys.has(thing) ? [[thing, keys.get(thing)!]] : []))),
  };
}
