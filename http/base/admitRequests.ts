import type { FastifyReply, FastifyRequest } from "fastify";
import { Unavailable } from "#events/ports.ts";
import type { App } from "./app.ts";
import { bodyOwner } from "./bodyBudget.ts";
import type { Http } from "./deps.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Releases the place of this request early, because from here on it only waits, for a model for example. */
    onlyWaits(): void;
  }
}

/** Requests that a process works on at the same time. */
export const MAX_ADMITTED = 32;
/** Maximum places for one organization. */
export const MAX_ADMITTED_OF_OWNER = 16;
/** A request that stays unanswered while the event loop is idle for this long waits for a body or an event, so it loses its place. */
const COUNTED_IDLE_MS = 100;
/**
 * Longest time a request keeps its place, even if the loop is busy: streams that stay open must not block their organization's
 * next requests.
 */
const COUNTED_MS = 5_000;

/** Maximum wait for a place; after it the request is refused. This bounds the time to recover from an overload. */
const MAX_WAIT_MS = 6_000;
const RETRY_AFTER_MS = 2_000;
/** Maximum waiting requests of one organization; one more is refused at once. Each holds a connection, and a process has a few thousand. */
const MAX_WAITING_OF_OWNER = 1_024;

const tooMany = (): Unavailable =>
  new Unavailable("too many requests wait for this process", { retry_after_ms: RETRY_AFTER_MS });

/** Milliseconds that the event loop was idle since the process started. */
const idleTime = (): number => performance.eventLoopUtilization().idle;

/**
 * Calls back once the event loop was idle for `ms` in total, or after `most_ms`. Idle time is the measure because a slow request
 * may itself keep the loop busy.
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
 * Limits the requests in progress and shares the places fairly between organizations, so that hundreds of requests of one
 * organization do not delay the next request of another. A request is refused after it has waited for `maxWaitMs`, or at once if
 * `maxWaiting` requests of its organization wait. A request that only waits holds no place
 * (docs/adr/0036-requests-are-admitted-in-turns.md).
 */
export function admitInTurns(
  app: App,
  { requestPlaces }: Pick<Http, "requestPlaces">,
  maxWaitMs: number = MAX_WAIT_MS,
  maxWaiting: number = MAX_WAITING_OF_OWNER,
): void {
  app.decorateRequest("onlyWaits", () => undefined);
  /** Throws Unavailable if the organization's queue is full, or after `maxWaitMs`. */
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
  // after the route's own authentication and before its body is read
  app.addHook("preParsing", (request, reply, body, done) => {
    admit(request, reply).then(() => done(null, body), done);
  });
}
