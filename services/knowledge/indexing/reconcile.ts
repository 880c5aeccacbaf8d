import type { IndexPlace, PassageIndex } from "../passageIndex.ts";

const EVERY_MS = 30_000;
const LONGEST_MS = 3_600_000;

/** What the index has is held against what search may show: at once, then every 30 s. */
export function createReconcile(
  { index, place }: { index: Pick<PassageIndex, "count">; place: Pick<IndexPlace, "shown"> },
  everyMs = EVERY_MS,
) {
  let [at, wait] = [0, everyMs];
  let whole = { serving: "", changes: -1, there: 0 };

  /**
   * Undefined unless passages are missing from an index that takes in nothing at this moment, `except` those of some
   * documents. Superseded ones that wait to be taken out may hide others for a while. One that is filled anew and lacks
   * some again is looked at less and less often: filling does not help it. `changes` were led into it so far: where there
   * was none since, its own number says it, and spares the sum over 100,000 documents its 180 ms.
   */
  return async (
    serving: string,
    changes: number,
    except: string[],
  ): Promise<{ there: number; shown: number } | undefined> => {
    if (performance.now() < at) return undefined;
    const there = await index.count(serving);
    const isAsBefore = whole.serving === serving && whole.changes === changes && whole.there <= there;
    const shown = isAsBefore ? whole.there : await place.shown(except);
    const isShort = there < shown;
    if (!isShort) whole = { serving, changes, there };
    wait = isShort ? Math.min(2 * wait, LONGEST_MS) : everyMs;
    at = performance.now() + wait;
    return isShort ? { there, shown } : undefined;
  };
}
