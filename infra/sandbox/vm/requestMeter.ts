/** Limits of a script's requests to its host. Sizes are in UTF-16 units. */
export interface RequestLimits {
  maxSize: number;
  maxPending: number;
  /** Total size of all pending requests. */
  maxPendingSize: number;
  /** Maximum requests of one script in total. */
  maxTotal: number;
}

/** Counts the requests of one script. */
export function createRequestMeter({ maxSize, maxPending, maxPendingSize, maxTotal }: RequestLimits) {
  let total = 0;
  let pending = 0;
  let pendingSize = 0;
  return {
    hasPending: (): boolean => pending > 0,
    /** Why a request of this size is refused, worded for the script's author; undefined if it may start. */
    refusal(size: number): string | undefined {
      if (size > maxSize) return "The request is too large.";
      if (pending >= maxPending || pendingSize + size > maxPendingSize) return "Too many requests at once.";
      return total >= maxTotal ? "Too many requests." : undefined;
    },
    start(size: number): void {
      total += 1;
      pending += 1;
      pendingSize += size;
    },
    finish(size: number): void {
      pending -= 1;
      pendingSize -= size;
    },
  };
}
