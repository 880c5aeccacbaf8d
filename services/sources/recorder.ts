import type { PageChange } from "#events/source.ts";

/** Pages that one event names. */
const MAX_PAGES = 20;
/** People see what was found out after this time at the latest. */
const MAX_AGE_MS = 2_000;

/** Collects what a read finds out. `record` resolves with false once the read is no longer this worker's. */
export function createRecorder(record: (pages: PageChange[]) => Promise<boolean>) {
  let waiting: PageChange[] = [];
  let since = 0;
  const flush = async (): Promise<boolean> => {
    if (waiting.length === 0) return true;
    const pages = waiting;
    waiting = [];
    return record(pages);
  };
  return {
    flush,
    /** Resolves with false when there is nothing more to do. */
    async add(page: PageChange): Promise<boolean> {
      if (waiting.length === 0) since = performance.now();
      waiting.push(page);
      return waiting.length < MAX_PAGES && performance.now() - since < MAX_AGE_MS ? true : flush();
    },
  };
}
