import type { IndexPlace, PassageIndex, Superseded } from "../passageIndex.ts";
import { compare, type CompareDeps } from "./compare.ts";

const EVERY_MS = 30_000;
const LONGEST_MS = 3_600_000;
/** For every second that comparing generation by generation has taken it waits so many, fewer where there are too many passages. */
const [REST, REST_IF_MORE] = [100, 10];

interface Look {
  serving: string;
  /** The index was led through every event of documents up to here. */
  led: number;
  /** The read model that says what search may show has come this far at least. */
  shown: number;
  /** Documents that are left out. */
  except: string[];
}

export interface Found {
  /** To be taken out. */
  surplus: Superseded[];
  /** Where passages are missing: how many there are, and how many search may show. */
  short?: { there: number; shown: number };
}

interface ReconcileDeps extends CompareDeps {
  index: Pick<PassageIndex, "count" | "generations">;
  place: Pick<IndexPlace, "shown" | "shownGenerations">;
}

/** What the index has is held against what search may show: at once, then every 30 s. */
export function createReconcile(deps: ReconcileDeps, everyMs = EVERY_MS) {
  const { index, place } = deps;
  let [at, wait] = [0, everyMs];
  let whole = { of: "", there: 0 };
  let compared = { at: -Infinity, took: 0 };

  /**
   * Undefined where an index that takes in nothing at this moment is as it should be, as far as is seen. Numbers come first;
   * generation by generation it is compared where there are too many passages (who wrote it before may have put, late, what
   * is deleted by now), and from time to time where the numbers are right: what is too much hides what is missing. One that is filled
   * anew and lacks some again is looked at less and less often: filling does not help it. Where the read model has come as far as the
   * index was led, search shows no more until the index is led further: until then its own number says it, and
   * spares the sum over 100,000 documents its 180 ms.
   */
  return async ({ serving, led, shown, except }: Look): Promise<Found | undefined> => {
    if (performance.now() < at) return undefined;
    const there = await index.count(serving);
    const of = [serving, led, ...except].join();
    const isAsBefore = whole.of === of && whole.there === there;
    const sum = isAsBefore ? whole.there : await place.shown(except);
    const isBehind = shown < led;
    const difference = there < sum || isBehind ? undefined : await compareIfDue(serving, except, there > sum);
    const missing = difference?.missing ?? Math.max(0, sum - there);
    const isShort = missing > 0;
    const surplus = difference?.surplus ?? [];
    // a sum of 0 may be that of a read model that is not there yet
    if (!isShort && surplus.length === 0 && !isBehind && sum > 0) whole = { of, there };
    wait = isShort ? Math.min(2 * wait, LONGEST_MS) : everyMs;
    at = performance.now() + wait;
    if (isShort) return { surplus, short: { there: sum - missing, shown: sum } };
    return surplus.length > 0 ? { surplus } : undefined;
  };

  async function compareIfDue(serving: string, except: string[], areMore: boolean) {
    const began = performance.now();
    if (began < compared.at + compared.took * (areMore ? REST_IF_MORE : REST)) return undefined;
    const difference = await compare(deps, serving, except);
    const now = performance.now();
    compared = { at: now, took: now - began };
    return difference;
  }
}
