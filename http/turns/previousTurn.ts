import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyRequest } from "fastify";
import { isUuid, parseStreamName } from "#events/ids.ts";
import { createCounter } from "../base/counter.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { identifyPost, findPreviousOutcome, type IdempotentRequest } from "../base/idempotency.ts";

/** A turn that an earlier delivery of the same request started. */
export interface PreviousTurn {
  organization_id: string;
  command_id: string;
  thread_id: string;
  /** Position of the event that started the turn. */
  position: number;
  /** Whether the repeated request has an Idempotency-Key. */
  hasKey: boolean;
}

export interface TurnIdentity extends IdempotentRequest {
  /** The thread to continue; undefined for a new one. */
  thread_id: string | undefined;
}

/** Reads the id of the thread that a request continues. Throws 400 `invalid_thread_id`. */
export function readThreadId(request: FastifyRequest): string | undefined {
  const sent = request.headers["x-thread-id"];
  if (sent === undefined) return undefined;
  if (typeof sent === "string" && isUuid(sent)) return sent.toLowerCase();
  throw new ApiError("invalid_thread_id", "x-thread-id must be a UUID.", { param: "x-thread-id" });
}

/** Identifies a request for a turn. A repetition has the same path, body, user and thread. */
export function identifyTurn(request: FastifyRequest, path: string, user: string | undefined): TurnIdentity {
  const thread_id = readThreadId(request);
  return { ...identifyPost(request, path, { user, more: [thread_id ?? ""] }), thread_id };
}

/**
 * How long a retry waits until a process has noticed that the client of the first delivery left: the retry may arrive before that.
 * While such a client is still there, the retry waits this long for nothing.
 */
const NOTICE_MS = 500;
const POLL_MS = 25;
/** Beyond this many waiting retries of an organization, each polls less often, so that together they send no more queries. */
const MAX_AT_FULL_SPEED = 8;

/** Number of retries in this process that wait, by organization. */
const waiting = createCounter();

const pollWait = (organization: string): number =>
  Math.min(NOTICE_MS, POLL_MS * Math.max(1, waiting.count(organization) / MAX_AT_FULL_SPEED));

async function claimAbandoned(
  { abandonedTurns }: Pick<Http, "abandonedTurns">,
  { organization_id, fingerprint }: TurnIdentity,
) {
  waiting.add(organization_id, 1);
  try {
    for (const start = performance.now(); ; await sleep(pollWait(organization_id))) {
      const found = await abandonedTurns.claim(organization_id, fingerprint);
      if (found || performance.now() - start > NOTICE_MS) return found;
      if (!(await abandonedTurns.isRunning(organization_id, fingerprint))) return undefined;
    }
  } finally {
    waiting.add(organization_id, -1);
  }
}

/**
 * Finds the turn that a repeated request resumes, even if the thread or agent it names has changed since. With an Idempotency-Key
 * this is the turn that the key started. Without a key, it is the turn of an equal request whose answer never reached its client.
 */
export async function findPreviousTurn(
  http: Pick<Http, "outcomes" | "abandonedTurns">,
  request: FastifyRequest,
  identity: TurnIdentity,
): Promise<PreviousTurn | undefined> {
  const { organization_id, id } = identity;
  const start = async () => {
    if (identity.hasKey) {
      const event = (await findPreviousOutcome(http, identity))?.event;
      return event && { command_id: id, ...event };
    }
    const isRetry = Number(request.headers["x-stainless-retry-count"]) > 0;
    return isRetry ? claimAbandoned(http, identity) : undefined;
  };
  const found = await start();
  if (!found) return undefined;
  const { command_id, stream, position } = found;
  return { organization_id, command_id, thread_id: parseStreamName(stream).id, position, hasKey: identity.hasKey };
}
