/** Items of one request that are processed in parallel. */
const AT_ONCE = 2;
/** After this time a request starts no further item. */
const MAX_MS = 20_000;

/**
 * Processes items in order, a few in parallel, until the time is up or the client has left. `next`: index of the first item that
 * was not started.
 */
export async function processInBatches<Item, Result>(
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
