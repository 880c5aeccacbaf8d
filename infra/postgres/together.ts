/**
 * Turns single look-ups into shared ones: keys asked for in the same turn of the event loop, or while a query is under way,
 * go in the next one. What a caller gets was always read after it had asked. At 32 requests in flight this is one round trip
 * for eight of them, and alone it adds nothing.
 */
export function together<V>(
  find: (keys: string[]) => Promise<Map<string, V>>,
): (keys: string[]) => Promise<Map<string, V>> {
  let asked = new Set<string>();
  let next: Promise<Map<string, V>> | undefined;
  let underWay: Promise<unknown> = Promise.resolve();

  const ask = async (): Promise<Map<string, V>> => {
    await underWay;
    await new Promise((resolve) => setImmediate(resolve));
    const keys = [...asked];
    asked = new Set();
    next = undefined;
    const found = find(keys);
    underWay = found.catch(() => {});
    return found;
  };

  return async (keys) => {
    for (const key of keys) asked.add(key);
    next ??= ask();
    const found = await next;
    return new Map(keys.flatMap((key) => (found.has(key) ? [[key, found.get(key)!]] : [])));
  };
}
