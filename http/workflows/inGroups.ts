/** Items of one request that are worked on at the same time. */
const AT_ONCE = 2;
/** Time after which a request begins nothing more. */
const MAX_MS = 20_000;

/**
 * Works on items in order, a few at once, until the time is over or the client has left. `next`: the place of the first item that
 * was not begun.
 */
export async function inGroups<Item, Result>(
  items: Item[],
  work: (item: Item) => Promise<Result[]>,
  disconnected: AbortSignal,
): Promise<{ results: Result[]; next: number }> {
  const startedAt = performance.now();
  const results: Result[] = [];
  let next = 0;
  while (next < items.length && !disconnected.aborted && performance.now() - startedAt < MAX_MS) {
    const group = items.slice(next, next + AT_ONCE);
    next += group.length;
    results.push(...(await Promise.all(group.map(work))).flat());
  }
  return { results, next };
}
