import { availableParallelism } from "node:os";
import { SearchBusy, type SearchEngine } from "#projections/passages/engine.ts";
import { createFairSemaphore } from "#services/sharing/fairSemaphore.ts";

/** Concurrent searches of an organization: the search server runs one per core. */
const MAX_SEARCHES_OF_ONE = Math.max(2, availableParallelism());
const MAX_SEARCHES = 2 * MAX_SEARCHES_OF_ONE;
/** How long a search of a turn waits; then it is refused. */
const MAX_WAIT_MS = 10_000;

/**
 * An engine whose searches take turns by organization, so that one organization's long searches do not block others. `waitTime`: how
 * long a search that begins now may wait for its turn, in milliseconds.
 */
export function searchInTurns<E extends SearchEngine>(
  engine: E,
  places = createFairSemaphore({ total: MAX_SEARCHES, perTenant: MAX_SEARCHES_OF_ONE }),
  waitTime: () => number = () => MAX_WAIT_MS,
): E {
  const inTurn = async <T>(organization: string, work: () => Promise<T>): Promise<T> => {
    const patience = AbortSignal.timeout(Math.ceil(waitTime()));
    try {
      await places.acquire(organization, patience);
    } catch (error) {
      throw new SearchBusy("Too many searches wait.", { cause: error });
    }
    try {
      return await work();
    } finally {
      places.release(organization);
    }
  };
  return {
    ...engine,
    nearest: (index, within, vector, limit) =>
      inTurn(within.organization_id, () => engine.nearest(index, within, vector, limit)),
    search: (index, within, queries) => inTurn(within.organization_id, () => engine.search(index, within, queries)),
  };
}
