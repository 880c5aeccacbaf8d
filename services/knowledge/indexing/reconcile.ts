import type { IndexPlace, PassageIndex } from "../passageIndex.ts";

const EVERY_MS = 30_000;
const LONGEST_MS = 3_600_000;

/** What the index has is held against what search may show: at once, then every 30 s. */
export function createReconcile(
  { index, place }: { index: Pick<PassageIndex, "count">; place: Pick<IndexPlace, "shown"> },
  everyMs = EVERY_MS,
) {
  let [at, wait] = [0, everyMs];

  /**
   * Undefined unless passages are missing from an index that takes in nothing at this moment, `except` those of some
   * documents. Superseded ones that wait to be taken out may hide others for a while. One that is filled anew and lacks
   * some again is looked at less and less often: filling does not help it.
   */
  return async (serving: string, except: string[]): Promise<{ there: number; shown: number } | undefined> => {
    if (performance.now() < at) return undefined;
    const shown = await place.shown(except);
    const there = shown === 0 ? 0 : await index.count(serving);
    const isShort = there < shown;
    wait = isShort ? Math.min(2 * wait, LONGEST_MS) : everyMs;
    at = performance.now() + wait;
    return isShort ? { there, shown } : undefined;
  };
}
