import { AsyncLocalStorage } from "node:async_hooks";
import type { FastifyReply } from "fastify";
import type { App } from "./app.ts";

/** Reads must end this long after their request began, because a 503 is due within 5 s. */
const MAX_READ_MS = 4_000;
/** Minimum time for a read, even if the request has already waited for something else, such as a read model. */
const MIN_READ_MS = 700;
/** An older request streams or waits for a turn, so each of its reads gets the full time. */
const LONG_REQUEST_MS = 5_000;

const current = new AsyncLocalStorage<Pick<FastifyReply, "elapsedTime">>();

/** Tracks the current request, for `requestAge` and `readTimeLeft`. */
export function trackRequestTime(app: App): void {
  app.addHook("onRequest", (_request, reply, done) => current.run(reply, done));
  // body events come from the socket, outside the async context of the request
  app.addHook("preValidation", (_request, reply, done) => current.run(reply, done));
}

/** Age of the current request in milliseconds. 0 without a request, or for a request that streams or waits for a turn. */
export function requestAge(): number {
  const age = current.getStore()?.elapsedTime ?? 0;
  return age >= LONG_REQUEST_MS ? 0 : age;
}

/** Milliseconds that a read may take if it starts now. */
export const readTimeLeft = (): number => Math.max(MAX_READ_MS - requestAge(), MIN_READ_MS);
