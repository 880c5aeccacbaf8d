import { dropOldest } from "#events/dropOldest.ts";

/** A cache of the `capacity` most recently used values; `create` makes a missing one. */
export function lruCache<V>(capacity: number): (key: string, create: () => V) => V {
  const values = new Map<string, V>();
  return (key, create) => {
    const value = values.has(key) ? (values.get(key) as V) : create();
    values.delete(key);
    values.set(key, value);
    dropOldest(values, capacity);
    return value;
  };
}
