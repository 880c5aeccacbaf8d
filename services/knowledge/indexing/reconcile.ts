import { HOUR_MS } from "#events/units.ts";
import type { IndexRegistry, PassageIndex, PassageRemoval } from "../passageIndex.ts";
import { compareIndex, type CompareDeps } from "./compareIndex.ts";

const INTERVAL_MS = 30_000;
const MAX_INTERVAL_MS = HOUR_MS;
/**
 * Pause before the next comparison of generations, as a multiple of the duration of the last one: normally, and if the index has
 * too many passages.
 */
const [REST_FACTOR, REST_FACTOR_IF_SURPLUS] = [100, 10];

interface ReconcileInput {
  serving: string;
  /** The index includes all document events up to this position. */
  covered: number;
  /** The position of the read model that decides what search may show. */
  projected: number;
  /** Ids of documents that are left out. */
  except: string[];
}

export interface ReconcileResult {
  /** Passages to remove. */
  surplus: PassageRemoval[];
  /** Set if passages are missing: the number in the index, and the number that search may show. */
  short?: { indexed: number; searchable: number };
}

interface ReconcileDeps extends CompareDeps {
  index: Pick<PassageIndex, "count" | "generations">;
  registry: Pick<IndexRegistry, "countSearchable" | "listSearchable">;
}

/**
 * Compares the index with what search may show: at once, then every 30 s. Call the function while no change is in flight; it
 * returns undefined if nothing is wrong or nothing is due.
 *
 * Numbers of passages are compared first. Generations are compared if there are too many passages (a previous writer may have
 * put, late, what is deleted by now), and from time to time if the numbers match, because surplus hides missing passages. If
 * passages stay missing, the interval grows: filling the index did not help.
 */
export function createReconcile(deps: ReconcileDeps, intervalMs = INTERVAL_MS) {
  const { index, registry } = deps;
  let [dueAt, interval] = [0, intervalMs];
  /** The last state found complete. While it is unchanged, the 180 ms of counting 100,000 documents are saved. */
  let complete = { key: "", indexed: 0 };
  let comparison = { at: -Infinity, took: 0 };

  async function compareIfDue(serving: string, except: string[], hasSurplus: boolean) {
    const startedAt = performance.now();
    const rest = comparison.took * (hasSurplus ? REST_FACTOR_IF_SURPLUS : REST_FACTOR);
    if (startedAt < comparison.at + rest) return undefined;
    const difference = await compareIndex(deps, serving, except);
    const now = performance.now();
    comparison = { at: now, took: now - startedAt };
    return difference;
  }

  return async (input: ReconcileInput): Promise<ReconcileResult | undefined> => {
    if (performance.now() < dueAt) return undefined;
    const { serving, covered, projected, except } = input;
    const indexed = await index.count(serving);
    const key = [serving, covered, ...except].join();
    const isUnchanged = complete.key === key && complete.indexed === indexed;
    const searchable = isUnchanged ? indexed : await registry.countSearchable(except);
    const isBehind = projected < covered;
    const difference =
      indexed < searchable || isBehind ? undefined : await compareIfDue(serving, except, indexed > searchable);
    const missing = difference?.missing ?? Math.max(0, searchable - indexed);
    const surplus = difference?.surplus ?? [];
    // a count of 0 may mean that there is no read model yet
    if (missing === 0 && surplus.length === 0 && !isBehind && searchable > 0) complete = { key, indexed };
    interval = missing > 0 ? Math.min(2 * interval, MAX_INTERVAL_MS) : intervalMs;
    dueAt = performance.now() + interval;
    if (missing > 0) return { surplus, short: { indexed: searchable - missing, searchable } };
    return surplus.length > 0 ? { surplus } : undefined;
  };
}
