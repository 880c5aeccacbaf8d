import type { IndexPlace, PassageIndex } from "../passageIndex.ts";

const EVERY_MS = 30_000;
const LONGEST_MS = 3_600_000;

interface Look {
  serving: string;
  /** The index was led through every event of documents up to here. */
  led: number;
  /** The read model that says what search may show has come this far at least. */
  shown: number;
  /** Documents that are left out. */
  except: string[];
}

/** What the index has is held against what search may show: at once, then every 30 s. */
export function createReconcile(
  { index, place }: { index: Pick<PassageIndex, "count">; place: Pick<IndexPlace, "shown"> },
  everyMs = EVERY_MS,
) {
  let [at, wait] = [0, everyMs];
  let whole = { of: "", there: 0 };

  /**
   * Undefined unless passages are missing from an index that takes in nothing at this moment. Superseded ones that wait to
   * be taken out may hide others for a while. One that is filled anew and lacks some again is looked at less and less often:
   * filling does not help it. Where the read model has come as far as the index was led, search shows no more until the
   * index is led further: until then its own number says it, and spares the sum over 100,000 documents its 180 ms.
   */
  return async ({ serving, led, shown, except }: Look): Promise<{ there: number; shown: number } | undefined> => {
    if (performance.now() < at) return undefined;
    const there = await index.count(serving);
    const of = [serving, led, ...except].join();
    const isAsBefore = whole.of === of && whole.there <= there;
    const sum = isAsBefore ? whole.there : await place.shown(except);
    const isShort = there < sum;
    // a sum of 0 may be that of a read model that is not there yet
    if (!isShort && shown >= led && sum > 0) whole = { of, there };
    wait = isShort ? Math.min(2 * wait, LONGEST_MS) : everyMs;
    at = performance.now() + wait;
    return isShort ? { there, shown: sum } : undefined;
  };
}
