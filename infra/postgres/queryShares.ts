import { currentOwner } from "#events/owner.ts";
import { createCapacity, type CapacityLimits } from "#services/sharing/capacity.ts";
import { createFairQueue } from "#services/sharing/fairQueue.ts";

/** Runs a query when its organization has room among the connections. */
export type QueryShares = <T>(query: () => Promise<T>) => Promise<T>;

/**
 * Shares the connections of a pool between organizations: one that asks for much waits for its own queries, and never has all
 * connections. What works for nobody in particular does not wait.
 */
export function createQueryShares(limits: CapacityLimits): QueryShares {
  const capacity = createCapacity(limits);
  const waiting = createFairQueue<() => void>();

  function admitNext(): void {
    while (waiting.size() > 0) {
      let admitted = "";
      const isEligible = (owner: string): boolean => {
        admitted = owner;
        return capacity.hasRoom(owner);
      };
      const admit = waiting.next(isEligible);
      if (!admit) return;
      capacity.take(admitted);
      admit();
    }
  }

  return async (query) => {
    const owner = currentOwner();
    if (owner === undefined) return query();
    if (capacity.hasRoom(owner)) capacity.take(owner);
    else await new Promise<void>((resolve) => waiting.add(owner, resolve));
    try {
      return await query();
    } finally {
      capacity.release(owner);
      admitNext();
    }
  };
}
