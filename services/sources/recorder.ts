import type { PageChange } from "#events/source.ts";

/** Maximum pages per event. */
const MAX_PAGES = 20;
/** Maximum delay before people see a result. */
const MAX_AGE_MS = 2_000;

/** Collects the results of a read. `record` resolves with false once this worker has lost the read. */
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
    /** Resolves with false when the read must end. */
    async add(page: PageChange): Promise<boolean> {
      if (waiting.length === 0) since = performance.now();
      waiting.push(page);
      return waiting.length < MAX_PAGES && performance.now() - since < MAX_AGE_MS ? true : flush();
    },
  };
}
