import { ERASED_KINDS, type ErasedCounts } from "#events/erasure.ts";

/** The counts above zero, such as `2 threads, 1 file`. */
export const describeCounts = (counts: ErasedCounts): string =>
  ERASED_KINDS.filter((kind) => counts[kind] > 0)
    .map((kind) => `${counts[kind]} ${counts[kind] === 1 ? kind.slice(0, -1) : kind}`)
    .join(", ");
