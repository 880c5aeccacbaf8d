import { createCapacity, type CapacityLimits } from "./capacity.ts";
import { createFairQueue } from "./fairQueue.ts";
import { createTurnstile } from "./turnstile.ts";

interface Waiter {
  tenant: string;
  /** Permits that the waiter takes. */
  amount: number;
  /** A tenant's waiters of lower rank are admitted first. */
  rank: number;
  admit(): void;
}

/** A waiter, and a promise that resolves when it is admitted. Rejects if the signal aborts first. */
function createWaiter(
  wanted: Pick<Waiter, "tenant" | "amount" | "rank">,
  signal: AbortSignal | undefined,
  onAbort: (waiter: Waiter) => void,
) {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const abort = (): void => {
    onAbort(waiter);
    reject(signal!.reason);
  };
  const waiter: Waiter = {
    ...wanted,
    admit() {
      signal?.removeEventListener("abort", abort);
      resolve();
    },
  };
  signal?.addEventListener("abort", abort, { once: true });
  return { waiter, admitted: promise };
}

function admitInTurns(
  queue: ReturnType<typeof createFairQueue<Waiter>>,
  capacity: ReturnType<typeof createCapacity>,
): void {
  while (!capacity.isFull()) {
    const next = queue.next((tenant, { amount }) => capacity.hasRoom(tenant, amount));
    if (!next) return;
    capacity.take(next.tenant, next.amount);
    next.admit();
  }
}

type Acquire = (tenant: string, signal?: AbortSignal, amount?: number) => Promise<void>;

/** Runs work while it holds `amount` permits. */
const createRun =
  (acquire: Acquire, release: (tenant: string, amount: number) => void) =>
  async <T>(tenant: string, work: () => Promise<T>, signal?: AbortSignal, amount = 1): Promise<T> => {
    await acquire(tenant, signal, amount);
    try {
      return await work();
    } finally {
      release(tenant, amount);
    }
  };

/**
 * A semaphore shared by tenants, who take turns: none holds more than `perTenant` of `total`. Only a few waiters are admitted per
 * turn of the event loop. Work that needs more permits than a tenant may hold takes all of that tenant's.
 */
export function createFairSemaphore(limits: CapacityLimits) {
  const capacity = createCapacity(limits);
  const queue = createFairQueue<Waiter>(({ rank }) => rank);
  const turnstile = createTurnstile();

  const admitWaiting = (): void => admitInTurns(queue, capacity);
  const permitsFor = (amount: number): number => Math.min(amount, limits.perTenant, limits.total);

  /** Resolves when the tenant holds the permits; rejects with the signal's reason if it aborts first. */
  async function acquire(tenant: string, signal?: AbortSignal, amount = 1, rank = 0): Promise<void> {
    signal?.throwIfAborted();
    const wanted = { tenant, amount: permitsFor(amount), rank };
    const { waiter, admitted } = createWaiter(wanted, signal, (aborted) => queue.remove(tenant, aborted));
    queue.add(tenant, waiter);
    admitWaiting();
    try {
      await admitted;
    } finally {
      await turnstile.pass();
    }
  }

  /** Takes the permits without waiting; false if there is no room, or the tenant's work waits already. */
  function tryAcquire(tenant: string, amount = 1): boolean {
    const wanted = permitsFor(amount);
    if (queue.sizeOf(tenant) > 0 || !capacity.hasRoom(tenant, wanted)) return false;
    capacity.take(tenant, wanted);
    return true;
  }

  function release(tenant: string, amount = 1): void {
    capacity.release(tenant, permitsFor(amount));
    admitWaiting();
  }

  return {
    acquire,
    tryAcquire,
    release,
    /** Number of the tenant's waiters. */
    countWaiting: queue.sizeOf,
    /** Lends a permit to other tenants while its holder still counts it; `releaseLent` ends the loan. */
    lend(): void {
      capacity.lend();
      admitWaiting();
    },
    releaseLent(tenant: string): void {
      capacity.releaseLent(tenant);
      admitWaiting();
    },
    run: createRun(acquire, release),
  };
}

export type FairSemaphore = ReturnType<typeof createFairSemaphore>;

/** Runs work when there is room; rejects with the signal's reason if it aborts first. */
export type Limiter = <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/** Runs at most `max` pieces of one owner's work at the same time; the rest wait in order. */
export function createLimiter(max: number): Limiter {
  const semaphore = createFairSemaphore({ total: max, perTenant: max });
  return (work, signal) => semaphore.run("", work, signal);
}
