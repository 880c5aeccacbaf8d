import type { FastifyReply, FastifyRequest } from "fastify";
import type { App } from "./app.ts";
import { bodyOwner } from "./bodyBudget.ts";
import type { Http } from "./deps.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Gives back the place of this request: from here on it only waits, for a model say. */
    onlyWaits(): void;
  }
}

/** Requests that a process works on at once. */
export const MAX_ADMITTED = 48;
/** The share of one organization; the others never wait for more than this. */
export const MAX_ADMITTED_OF_OWNER = 32;
/** A request that takes longer than this mostly waits, for a body or an event, and no longer counts. */
const COUNTED_MS = 100;

/**
 * Admits requests in turns, by organization: one that sends hundreds at once waits for its own, and the next request of another
 * one overtakes them. Nothing is refused, and a request that only waits keeps nobody else out (docs/adr/0036-requests-are-admitted-in-turns.md).
 */
export function admitInTurns(app: App, { requestPlaces }: Pick<Http, "requestPlaces">): void {
  app.decorateRequest("onlyWaits", () => undefined);
  async function admit(request: FastifyRequest, { raw }: FastifyReply): Promise<void> {
    const owner = bodyOwner(request);
    await requestPlaces.acquire(owner);
    let isCounted = true;
    const release = (): void => {
      if (!isCounted) return;
      isCounted = false;
      clearTimeout(timer);
      requestPlaces.release(owner);
    };
    const timer = setTimeout(release, COUNTED_MS);
    request.onlyWaits = release;
    if (raw.destroyed) release();
    else raw.once("close", release);
  }
  // after the route's own authentication, before its body is read
  app.addHook("preParsing", (request, reply, body, done) => {
    admit(request, reply).then(() => done(null, body), done);
  });
}
