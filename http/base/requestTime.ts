import { AsyncLocalStorage } from "node:async_hooks";
import type { FastifyReply } from "fastify";
import type { App } from "./app.ts";

/** Reads of a request end this long after it began: its 503 is due within 5 s. */
const MAX_READ_MS = 4_000;
/** What a read gets although the request has done something else for long, such as waiting for a read model. */
const MIN_READ_MS = 700;
/** A request that is older streams, or waits for a turn: what it does next has the whole time. */
const LONG_REQUEST_MS = 5_000;

const current = new AsyncLocalStorage<Pick<FastifyReply, "elapsedTime">>();

/** Makes `requestAge` and `readTimeLeft` know the request that the code runs for. */
export function trackRequestTime(app: App): void {
  app.addHook("onRequest", (_request, reply, done) => current.run(reply, done));
  // a body arrives in events of the socket, which belong to no request
  app.addHook("preValidation", (_request, reply, done) => current.run(reply, done));
}

/** Milliseconds since the request began that the running code works for; 0 without a request, or in one that streams or waits for a turn. */
export function requestAge(): number {
  const age = current.getStore()?.elapsedTime ?? 0;
  return age >= LONG_REQUEST_MS ? 0 : age;
}

/** Milliseconds that a read has, which starts now, out of the time of its request. */
export const readTimeLeft = (): number => Math.max(MAX_READ_MS - requestAge(), MIN_READ_MS);
