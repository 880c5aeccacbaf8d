import { availableParallelism } from "node:os";
import type { FastifyRequest } from "fastify";
import { Unavailable } from "#events/ports.ts";
import type { Http } from "../base/deps.ts";
import { networkOf } from "../base/networkOf.ts";

/**
 * Maximum concurrent hashes. They run on Node's thread pool, four threads by default, which file access and DNS share, so
 * passwords use at most half. One core stays free.
 */
export const MAX_CONCURRENT_HASHES = Math.max(1, Math.min(2, availableParallelism() - 1));
/** A hash takes 25 ms, so only hundreds of waiting networks cause such a wait. */
const MAX_WAIT_MS = 20_000;

/**
 * Hashes a password when it is the caller's turn. Organizations take turns, and so do the networks of people who are not signed
 * in, so that a stranger who tries hundreds of passwords does not delay others. Throws Unavailable after MAX_WAIT_MS.
 */
export async function queueHash<T>(
  { passwordPlaces }: Pick<Http, "passwordPlaces">,
  request: FastifyRequest,
  hash: () => Promise<T>,
): Promise<T> {
  const owner = request.caller?.organization_id ?? networkOf(request.ip);
  const waiting = new AbortController();
  const leave = (): void => waiting.abort(new Unavailable("too many passwords wait to be checked"));
  const timer = setTimeout(leave, MAX_WAIT_MS);
  // a closed connection needs no answer
  request.raw.socket.once("close", leave);
  try {
    await passwordPlaces.acquire(owner, waiting.signal);
  } finally {
    clearTimeout(timer);
    request.raw.socket.off("close", leave);
  }
  try {
    return await hash();
  } finally {
    passwordPlaces.release(owner);
  }
}
