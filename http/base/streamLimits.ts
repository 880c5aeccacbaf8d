import type { FastifyReply, FastifyRequest } from "fastify";
import { MIB } from "#events/units.ts";
import { createBodyBudget } from "./bodyBudget.ts";
import type { Caller } from "./caller.ts";
import { createCounter } from "./counter.ts";
import { ApiError } from "./errors.ts";
import { MAX_UNCOUNTED_BYTES } from "./sendFile.ts";

const MAX_OF_CREDENTIAL = 50;
const MAX_OF_ORGANIZATION = 200;
/** Maximum concurrent exports per organization. Exports are built while they are sent, which keeps the process and the database busy. */
const MAX_EXPORTS = 1;
/** Maximum concurrent reads per organization that wait for the end of a run. One query serves them all, so there may be many. */
const MAX_WAITS = 1_000;
/**
 * Maximum concurrent requests per organization for turns, running or waiting, and for turns that an earlier request has started:
 * four times as many as a process runs turns for it. Each holds a connection, and a process has a few thousand.
 */
const MAX_TURN_REQUESTS = 2_000;
/**
 * Bytes that the open streams of this process keep of their requests, which may have 64 MiB of instructions. Request bodies have
 * another budget, because a stream may be open for days.
 */
const MAX_KEPT = 128 * MIB;
const MAX_KEPT_OF_ORGANIZATION = 32 * MIB;
const RETRY_MS = 5_000;

interface StreamReply {
  /** A request of a caller, or of a hook. */
  request: {
    caller?: Pick<Caller, "organization_id" | "principal" | "session"> | null;
    trigger?: { organization_id: string } | null;
  };
  raw: Pick<FastifyReply["raw"], "destroyed" | "once">;
}

const tooManyTurnRequests = (limit: number): ApiError =>
  new ApiError(
    "rate_limited",
    `${limit} requests of the organization wait for turns; wait for some of their answers before the next request.`,
    { retryAfterMs: RETRY_MS },
  );

const organizationOf = ({ caller, trigger }: StreamReply["request"]): string => (caller ?? trigger)!.organization_id;
const credentialOf = ({ caller }: StreamReply["request"]): string =>
  caller!.session ? `session:${caller!.session.session_id}` : caller!.principal;

/** Counts bytes that a stream keeps until its connection closes, once for each request. */
function createKeptBytes(limits: { total: number; perOwner: number }) {
  const budget = createBodyBudget(limits);
  const counted = new WeakSet<FastifyRequest>();
  return ({ request, raw }: Pick<FastifyReply, "request" | "raw">, bytes: number): void => {
    if (bytes <= MAX_UNCOUNTED_BYTES || raw.destroyed || counted.has(request)) return;
    budget.countArrived(request, bytes);
    counted.add(request);
    raw.once("close", () => budget.release(request));
  };
}

/**
 * Limits the open streams of this process that follow the log, exports, reads that wait for the end of a run, and requests that
 * wait for turns. A stream of a turn is such a request, unless a client reads the response by its id.
 */
export function createStreamLimits({
  perCredential = MAX_OF_CREDENTIAL,
  perOrganization = MAX_OF_ORGANIZATION,
  exports = MAX_EXPORTS,
  waits = MAX_WAITS,
  turnRequests = MAX_TURN_REQUESTS,
  keptBytes = { total: MAX_KEPT, perOwner: MAX_KEPT_OF_ORGANIZATION },
} = {}) {
  const open = createCounter();
  const addUntilClosed = (raw: StreamReply["raw"], ...names: string[]): void => {
    if (raw.destroyed) return;
    for (const name of names) open.add(name, 1);
    raw.once("close", () => {
      for (const name of names) open.add(name, -1);
    });
  };
  const requireFewer = (name: string, limit: number, message: string): void => {
    if (open.count(name) >= limit) throw new ApiError("too_many_streams", message, { retryAfterMs: RETRY_MS });
  };
  /** Counts what an organization may only have `limit` of. */
  const countOf = (what: string, limit: number, advice: string, { request, raw }: StreamReply): void => {
    const name = `${what} of ${organizationOf(request)}`;
    requireFewer(name, limit, `An organization may have ${limit} ${what} at a time; ${advice}.`);
    addUntilClosed(raw, name);
  };

  return {
    /** Counts a stream until its connection closes. Throws 429 `too_many_streams`. */
    count({ request, raw }: StreamReply): void {
      const [credential, organization] = [credentialOf(request), organizationOf(request)];
      const may = (limit: number) => `may have ${limit} open streams; close some first.`;
      requireFewer(credential, perCredential, `A credential ${may(perCredential)}`);
      requireFewer(organization, perOrganization, `An organization ${may(perOrganization)}`);
      addUntilClosed(raw, credential, organization);
    },
    /** Counts an export until its connection closes. Throws 429 `too_many_streams`. */
    countExport: (reply: StreamReply): void => countOf("exports", exports, "wait for the end of one", reply),
    /** Counts a read that waits for the end of a run, until it is answered. Throws 429 `too_many_streams`. */
    countWaitingRead: (reply: StreamReply): void => countOf("waiting reads", waits, "wait for fewer runs", reply),
    /** Counts a request for a turn until it is answered. Call it before the turn starts. Throws 429 `rate_limited`. */
    countTurnRequest({ request, raw }: StreamReply): void {
      const name = `turn requests of ${organizationOf(request)}`;
      if (open.count(name) >= turnRequests) throw tooManyTurnRequests(turnRequests);
      addUntilClosed(raw, name);
    },
    /** Counts what a stream keeps of its request until its connection closes. Throws 429 `too_many_bytes`, and Unavailable. */
    countKept: createKeptBytes(keptBytes),
  };
}

export type StreamLimits = ReturnType<typeof createStreamLimits>;
