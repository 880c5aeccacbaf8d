import type { ThreadStatus } from "./threadStatus.ts";

/** Added to a script's limit for the interval between two checks. */
const GRACE_MS = 500;

/** CPU milliseconds that a thread had used when it was first checked in this slice of computing. */
export interface SliceStart {
  slice: number;
  cpuMs: number;
}

/** The limit that a thread has exceeded at `cpuMs`, if any. A speculative step has only the grace period. */
export function exceededLimit(
  { slice, isSpeculative }: Pick<ThreadStatus, "slice" | "isSpeculative">,
  start: SliceStart,
  cpuMs: number,
  limit_ms: number,
): "computing" | "speculating" | undefined {
  if (start.slice !== slice || cpuMs - start.cpuMs <= (isSpeculative ? 0 : limit_ms) + GRACE_MS) return undefined;
  return isSpeculative ? "speculating" : "computing";
}

export interface ThreadMemory {
  n: number;
  tenant: string;
  bytes: number;
}

/** The thread to end if all together hold more than `maxBytes`: the largest one of the tenant that holds the most. */
export function threadToEvict(threads: readonly ThreadMemory[], maxBytes: number): number | undefined {
  const sum = (some: readonly ThreadMemory[]): number => some.reduce((bytes, thread) => bytes + thread.bytes, 0);
  if (sum(threads) <= maxBytes) return undefined;
  const [largestTenant] = [...Map.groupBy(threads, ({ tenant }) => tenant).values()].toSorted(
    (a, b) => sum(b) - sum(a),
  );
  const [largest] = largestTenant!.toSorted((a, b) => b.bytes - a.bytes);
  return largest!.n;
}
