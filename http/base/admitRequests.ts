import type { FastifyReply, FastifyRequest } from "fastify";
import { Unavailable } from "#events/ports.ts";
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
export const MAX_ADMITTED = 32;
/** The share of one organization; the others never wait for more than this. */
export const MAX_ADMITTED_OF_OWNER = 16;
/** A request that is not answered after so much time in which the event loop was idle waits for a body or an event, and no longer counts. */
const COUNTED_IDLE_MS = 100;
/** However busy the loop is, streams that stay open must not keep their organization's next requests out. */
const COUNTED_MS = 5_000;

/** Maximum wait for a place; then the request is refused. So after an overload all that wait are answered or refused within this time. */
const MAX_WAIT_MS = 6_000;
const RETRY_AFTER_MS = 2_000;
/** Requests of one organization that wait; one more is refused at once. Each holds a connection, and a process has some thousands. */
const MAX_WAITING_OF_OWNER = 1_024;

const tooMany = (): Unavailable =>
  new Unavailable("too many requests wait for this process", { retry_after_ms: RETRY_AFTER_MS });

/** Time in which the event loop had nothing to do since the process started, in milliseconds. */
const idleTime = (): number => performance.eventLoopUtilization().idle;

/**
 * Calls back once the event loop was idle for `ms`, after `most_ms` at the latest: while the loop is busy, a slow request is one
 * of those that keep it busy.
 */
export function afterIdle(ms: number, most_ms: number, callback: () => void, idle = idleTime): { cancel(): void } {
  const end = idle() + ms;
  const latest = performance.now() + most_ms;
  let timer: NodeJS.Timeout;
  const wait = (): void => {
    const left = Math.min(end - idle(), latest - performance.now());
    if (left <= 0) callback();
    else timer = setTimeout(wait, Math.ceil(left));
  };
  wait();
  return { cancel: () => clearTimeout(timer) };
}

/**
 * Admits requests in turns, by organization: one that sends hundreds at once waits for its own, and the next request of another
 * one overtakes them. One that has waited for `maxWaitMs`, or finds `maxWaiting` of its organization, is refused, and a request that
 * only waits keeps nobody else out (docs/adr/0036-requests-are-admitted-in-turns.md).
 */
export function admitInTurns(
  app: App,
  { requestPlaces }: Pick<Http, "requestPlaces">,
  maxWaitMs: number = MAX_WAIT_MS,
  maxWaiting: number = MAX_WAITING_OF_OWNER,
): void {
  app.decorateRequest("onlyWaits", () => undefined);
  /** Throws Unavailable. */
  async function waitForPlace(owner: string): Promise<void> {
    if (requestPlaces.countWaiting(owner) >= maxWaiting) throw tooMany();
    const refusal = new AbortController();
    const timer = setTimeout(() => refusal.abort(tooMany()), maxWaitMs);
    await requestPlaces.acquire(owner, refusal.signal).finally(() => clearTimeout(timer));
  }
  async function admit(request: FastifyRequest, { raw }: FastifyReply): Promise<void> {
    const owner = bodyOwner(request);
    await waitForPlace(owner);
    let isCounted = true;
    const release = (): void => {
      if (!isCounted) return;
      isCounted = false;
      counted.cancel();
      requestPlaces.release(owner);
    };
    const counted = afterIdle(COUNTED_IDLE_MS, COUNTED_MS, release);
    request.onlyWaits = release;
    if (raw.destroyed) release();
    else raw.once("close", release);
  }
  // after the route's own authentication, before its body is read
  app.addHook("preParsing", (request, reply, body, done) => {
    admit(request, reply).then(() => done(null, body), done);
  });
}
