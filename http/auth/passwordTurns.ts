import { availableParallelism } from "node:os";
import type { FastifyRequest } from "fastify";
import { Unavailable } from "#events/ports.ts";
import type { Http } from "../base/deps.ts";
import { networkOf } from "./throttle.ts";

/**
 * Hashes run on Node's thread pool, four threads by default, which file access and DNS need too: passwords may use half. They leave
 * one core to everything else.
 */
export const MAX_HASHES = Math.max(1, Math.min(2, availableParallelism() - 1));
/** A hash takes 25 ms, so a sign-in waits so long only among hundreds of networks. */
const MAX_WAIT_MS = 20_000;

/**
 * Hashes a password when it is the caller's turn. Organizations, and networks of people who are not signed in, take turns: strangers who try
 * hundreds of passwords wait for each other, and somebody else overtakes them. Throws Unavailable after twenty seconds.
 */
export async function hashInTurn<T>(
  { passwordPlaces }: Pick<Http, "passwordPlaces">,
  request: FastifyRequest,
  hash: () => Promise<T>,
): Promise<T> {
  const owner = request.caller?.organization_id ?? networkOf(request.ip);
  const waiting = new AbortController();
  const leave = (): void => waiting.abort(new Unavailable("too many passwords wait to be checked"));
  const timer = setTimeout(leave, MAX_WAIT_MS);
  // nobody waits for the answer of a closed connection
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
