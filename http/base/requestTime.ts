import { AsyncLocalStorage } from "node:async_hooks";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { App } from "./app.ts";

/** Reads must end this long after their request began, because a 503 is due within 5 s. */
const MAX_READ_MS = 4_000;
/** Minimum time for a read, even if the request has already waited for something else, such as a read model. */
const MIN_READ_MS = 700;
/** An older request has probably waited for something else: a body, a provider, or a place in a queue. */
const OLD_MS = 5_000;

/** How long a request has waited for the stores: PostgreSQL, the bus and the read models. */
interface RequestClock {
  reply: FastifyReply;
  /** Number of waits in progress, and when the first of them began (`performance.now()`). */
  running: number;
  since: number;
  /** Total duration of the earlier waits; waits that overlap count once. */
  waited_ms: number;
  /** How long it has waited behind other requests of its organization, which is not part of its age. */
  queued_ms: number;
  isUnlimited: boolean;
}

const current = new AsyncLocalStorage<RequestClock | undefined>();

/** Tracks the current request, for the functions below. */
export function trackRequestTime(app: App): void {
  const clocks = new WeakMap<FastifyRequest, RequestClock>();
  app.addHook("onRequest", (request, reply, done) => {
    const clock = { reply, running: 0, since: 0, waited_ms: 0, queued_ms: 0, isUnlimited: false };
    clocks.set(request, clock);
    current.run(clock, done);
  });
  // body events come from the socket, outside the async context of the request
  app.addHook("preValidation", (request, _reply, done) => current.run(clocks.get(request), done));
}

/** Runs a read or a command of the current request, and counts its time. Waits that overlap count once. */
export async function countWait<T>(work: () => Promise<T>): Promise<T> {
  const clock = current.getStore();
  if (!clock) return work();
  if (clock.running++ === 0) clock.since = performance.now();
  try {
    return await work();
  } finally {
    if (--clock.running === 0) clock.waited_ms += performance.now() - clock.since;
  }
}

/** Waits behind other requests of the organization. This time does not shorten what the current request may do afterwards. */
export async function waitInQueue<T>(work: () => Promise<T>): Promise<T> {
  const clock = current.getStore();
  const since = performance.now();
  try {
    return await work();
  } finally {
    if (clock) clock.queued_ms += performance.now() - since;
  }
}

/** Call it before the current request waits for a turn, which may take any time. Later reads of the request have the full time. */
export function liftTimeLimit(): void {
  const clock = current.getStore();
  if (clock) clock.isUnlimited = true;
}

/** Runs work that serves all requests: its time is not that of the current one. */
export const runOutsideRequest = <T>(work: () => T): T => current.run(undefined, work);

const waitedFor = ({ running, since, waited_ms }: RequestClock): number =>
  running > 0 ? waited_ms + performance.now() - since : waited_ms;

/**
 * Age of the current request in milliseconds, without its waits in queues. From 5 s on, only its waits for the stores count. 0 without
 * a request, and for a request that waits for a turn or is being answered. Also 0 for a GET from 5 s on, because it reads much, and a
 * retry would only fail again.
 */
export function requestAge(): number {
  const clock = current.getStore();
  if (!clock) return 0;
  const { reply, isUnlimited, queued_ms } = clock;
  if (isUnlimited || reply.raw.headersSent || reply.raw.destroyed) return 0;
  const age = reply.elapsedTime - queued_ms;
  if (age < OLD_MS) return age;
  return reply.request.method === "GET" ? 0 : waitedFor(clock);
}

/** Milliseconds that a read may take if it starts now. */
export const readTimeLeft = (): number => Math.max(MAX_READ_MS - requestAge(), MIN_READ_MS);
