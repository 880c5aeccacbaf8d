import type { FastifyRequest } from "fastify";
import { bodyOwner } from "./bodyBudget.ts";
import type { Places } from "./deps.ts";

/** Answers of megabytes that a process makes at once: those of all organizations, and of one. */
export const LONG_READS = { total: 6, perTenant: 2 };

/**
 * Lets an organization read few long things at a time. Megabytes are read, decrypted and written in short pieces, but the pieces
 * of a dozen requests in each round of the event loop made everybody wait for half a second.
 */
export function createLongReads(places: Places) {
  const ends = new WeakMap<FastifyRequest, AbortController>();
  return {
    /** Waits for a place, which the request keeps until `end`; a request that has one does not wait. Throws when the request ends before. */
    async begin(request: FastifyRequest): Promise<void> {
      if (ends.has(request)) return;
      const [owner, end] = [bodyOwner(request), new AbortController()];
      ends.set(request, end);
      await places.acquire(owner, end.signal);
      const release = () => places.release(owner);
      if (end.signal.aborted) release();
      else end.signal.addEventListener("abort", release, { once: true });
    },
    /** The answer is made, or its client has left. */
    end: (request: FastifyRequest): void => ends.get(request)?.abort(),
  };
}

export type LongReads = ReturnType<typeof createLongReads>;
