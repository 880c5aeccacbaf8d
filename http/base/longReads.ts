import type { FastifyRequest } from "fastify";
import { bodyOwner } from "./bodyBudget.ts";
import type { CountedSemaphore } from "./deps.ts";
import { ApiError } from "./errors.ts";
import { waitInQueue } from "./requestTime.ts";

/** Answers of several megabytes that a process builds at the same time, in total and per organization. */
export const LONG_READS = { total: 6, perTenant: 2 };
/** Maximum reads of an organization that wait for a place; one more is refused. Each holds a connection. */
const MAX_WAITING_READS = 1_000;
const RETRY_MS = 5_000;

/**
 * Limits the long reads of an organization. They are read, decrypted and written in short pieces, but a dozen of them in each
 * round of the event loop made everybody else wait for half a second.
 */
export function createLongReads(places: CountedSemaphore, maxWaiting = MAX_WAITING_READS) {
  const ends = new WeakMap<FastifyRequest, AbortController>();
  return {
    /**
     * Waits for a place, which the request keeps until `end`. Returns at once if the request has one. Throws if the request ends
     * before, and 429 `rate_limited` if too many of its organization wait.
     */
    async begin(request: FastifyRequest): Promise<void> {
      if (ends.has(request)) return;
      const [owner, end] = [bodyOwner(request), new AbortController()];
      if (places.countWaiting(owner) >= maxWaiting)
        throw new ApiError(
          "rate_limited",
          `${maxWaiting} long answers of the organization wait; read fewer at a time.`,
          {
            retryAfterMs: RETRY_MS,
          },
        );
      ends.set(request, end);
      await waitInQueue(() => places.acquire(owner, end.signal));
      const release = () => places.release(owner);
      if (end.signal.aborted) release();
      else end.signal.addEventListener("abort", release, { once: true });
    },
    /** Releases the place: the answer is built, or the client has left. */
    end: (request: FastifyRequest): void => ends.get(request)?.abort(),
  };
}

export type LongReads = ReturnType<typeof createLongReads>;

/** Others of the organization release their places within seconds. */
const NEVER = new AbortController().signal;

/**
 * Waits for a place among the organization's long reads, and releases it after `read`, because the request may go on to wait for
 * its turn, or for a slow client. Throws if `signal` aborts first.
 */
export async function readInTurn<T>(
  { longReadPlaces }: { longReadPlaces: CountedSemaphore },
  organization: string,
  read: () => Promise<T>,
  signal: AbortSignal = NEVER,
): Promise<T> {
  await waitInQueue(() => longReadPlaces.acquire(organization, signal));
  try {
    return await read();
  } finally {
    longReadPlaces.release(organization);
  }
}
