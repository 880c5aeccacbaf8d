import { createFairSemaphore } from "../sharing/fairSemaphore.ts";

/* Limits the memory of the runs that a process drives: hundreds may be open, each with the results of its steps (ADR 77). */

/** UTF-16 units that each run may hold without counting, so that most runs wait for nothing. */
const UNCOUNTED_SIZE = 64 * 1024;
/** Factor by which a run whose size is unknown asks for more than it had when it ran out of room. */
const GROWTH = 4;
/** An organization's share of the total is one part of so many. */
const PARTS = 4;
/** Waiting runs of an organization at which a process takes no further ones: each keeps one of its places. */
const MAX_WAITING = 50;
/** Runs that are read from the log at the same time: each reads pages of some megabytes. */
const READS = { total: 16, perTenant: 8 };
/** A string takes up to so many bytes per UTF-16 unit. */
const BYTES_PER_UNIT = 2;

/** A run has no room for what it is about to read. */
export class NoRoom extends Error {
  override name = "NoRoom";
}

/** The room of one run. */
export interface RunRoom {
  /**
   * Whether the run may hold this many UTF-16 units; takes more room if there is some. A run that has the whole share of its
   * organization may hold anything. While others wait, none grows, because a large run would never get its room.
   */
  fits(size: number): boolean;
  /** Whether something did not fit since the last wait. */
  isFull(): boolean;
  /** Whether other runs of its organization wait for what this one holds. */
  isWanted(): boolean;
  /** Returns what the run does not need. */
  shrink(size: number): void;
  /**
   * Returns all room and waits for enough; false if `stopping` aborts first. The run must hold nothing meanwhile: runs that hold
   * room while they wait for more could wait for each other. `isPartial`: what did not fit was only a part of the run.
   */
  wait(stopping: AbortSignal, isPartial: boolean): Promise<boolean>;
  close(): void;
}

/** Rounded up to a power of two, so that a run that grows asks rarely. */
const roundUp = (size: number): number => (size <= UNCOUNTED_SIZE ? 0 : 2 ** Math.ceil(Math.log2(size)));

/** `total`: UTF-16 units of all runs. */
function createShares(total: number) {
  const perTenant = Math.floor(total / PARTS);
  const semaphore = createFairSemaphore({ total, perTenant });
  return { semaphore, perTenant, held: 0, waiting: 0 };
}
type Shares = ReturnType<typeof createShares>;

async function acquire(shares: Shares, organization: string, size: number, stopping: AbortSignal): Promise<boolean> {
  shares.waiting += 1;
  try {
    await shares.semaphore.acquire(organization, stopping, size);
    return true;
  } catch (error) {
    if (!stopping.aborted) throw error;
    return false;
  } finally {
    shares.waiting -= 1;
  }
}

function openRoom(shares: Shares, organization: string): RunRoom {
  const { semaphore, perTenant } = shares;
  let reserved = 0;
  /** The largest size that did not fit. */
  let refused = 0;
  const reservationFor = (size: number): number => Math.min(roundUp(size), perTenant);
  function count(now: number): void {
    shares.held += now - reserved;
    reserved = now;
  }
  function shrink(size: number): void {
    const needed = reservationFor(size);
    if (needed >= reserved) return;
    semaphore.release(organization, reserved - needed);
    count(needed);
  }
  return {
    fits(size) {
      const needed = reservationFor(size);
      if (needed <= reserved) return true;
      if (semaphore.tryAcquire(organization, needed - reserved)) {
        count(needed);
        return true;
      }
      refused = Math.max(refused, size);
      return false;
    },
    isFull: () => refused > 0,
    isWanted: () => reserved > 0 && semaphore.countWaiting(organization) > 0,
    shrink,
    async wait(stopping, isPartial) {
      shrink(0);
      const wanted = reservationFor(isPartial ? refused * GROWTH : refused);
      refused = 0;
      if (!(await acquire(shares, organization, wanted, stopping))) return false;
      count(wanted);
      return true;
    },
    close: () => shrink(0),
  };
}

/** Limits the memory of a process's runs. `megabytes`: of all organizations. */
export function createRunMemory(megabytes: number) {
  const shares = createShares(Math.floor((megabytes * 1_000_000) / BYTES_PER_UNIT));
  const reads = createFairSemaphore(READS);
  return {
    open: (organization: string): RunRoom => openRoom(shares, organization),
    /** Whether the process may take further runs of the organization. */
    hasRoom: (organization: string): boolean => shares.semaphore.countWaiting(organization) < MAX_WAITING,
    /** Reads a run from the log when it is its organization's turn. */
    read: <T>(organization: string, work: () => Promise<T>): Promise<T> => reads.run(organization, work),
    /** Bytes that runs have reserved, and the number of runs that wait for room. */
    usage: () => ({ bytes: shares.held * BYTES_PER_UNIT, waiting: shares.waiting }),
  };
}

export type RunMemory = ReturnType<typeof createRunMemory>;
