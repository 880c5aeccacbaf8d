/** Limits of what a script requests of its host. Sizes are in UTF-16 units. */
export interface RequestLimits {
  maxSize: number;
  maxPending: number;
  /** Size of all pending requests together. */
  maxPendingSize: number;
  /** Requests that one script may make from its first line to its end. */
  maxTotal: number;
}

/** Counts the requests of one script. */
export function createRequestMeter({ maxSize, maxPending, maxPendingSize, maxTotal }: RequestLimits) {
  let total = 0;
  let pending = 0;
  let pendingSize = 0;
  return {
    hasPending: (): boolean => pending > 0,
    /** Why a request of this size is refused, for the author of the script; undefined when it may start. */
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
