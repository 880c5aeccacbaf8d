import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { AuditedEvent, EventFilter } from "#events/auditLog.ts";
import { createPause } from "#events/slices.ts";
import type { Http } from "../base/deps.ts";
import { disconnectSignal } from "../base/disconnect.ts";
import { ApiError } from "../base/errors.ts";
import { openEventStream, type EventStream } from "../base/sse.ts";
import { createCursor, type ToCursor } from "./cursor.ts";
import {
  BATCH_SIZE,
  createOrganizationFollowers,
  waitForCommit,
  type OrganizationFollower,
} from "./organizationFollower.ts";

const RETRY_MS = 50;
/** Characters that are written before the stream waits until the client has read them. */
const MAX_WRITE_CHARS = 64 * 1024;
/** Stored bytes of the events that a stream reads from the log at once, because it keeps them while its client does not read. */
const MAX_READ_BYTES = 256 * 1024;

type Needs = Pick<Http, "log" | "readAuditSlice" | "onCommitted" | "streams" | "keyring">;
type Check = (request: FastifyRequest) => Promise<void>;
/** Converts an event to a frame of Server-Sent Events. An empty string leaves it out. */
type ToFrame = (event: AuditedEvent, toCursor: ToCursor, request: FastifyRequest) => string;
interface TailQuery extends EventFilter {
  /** Undefined: only events from now on. */
  after: number | undefined;
}

/** An open stream and its position. */
interface Tail {
  request: FastifyRequest;
  toFrame: ToFrame;
  sse: EventStream;
  toCursor: ToCursor;
  disconnected: AbortSignal;
  follower: OrganizationFollower;
  filter: EventFilter;
  /** Position of the last event that was sent. */
  sent: number;
}

/** Whether the caller may still read; undefined if the database cannot answer now. */
async function mayRead(check: Check, request: FastifyRequest): Promise<boolean | undefined> {
  try {
    await check(request);
    return true;
  } catch (error) {
    return error instanceof ApiError ? false : undefined;
  }
}

/**
 * Sends events at the pace of the client. Returns false if the caller may no longer read, and undefined if they were not sent but may
 * be later. Hundreds of streams may send megabytes, so it lets other work run in between.
 */
async function deliver(check: Check, tail: Tail, events: AuditedEvent[]): Promise<boolean | undefined> {
  if (events.length === 0) return true;
  const allowed = await mayRead(check, tail.request);
  if (!allowed) return allowed;
  const pause = createPause();
  let frames = "";
  for (const [n, event] of events.entries()) {
    await pause();
    frames += tail.toFrame(event, tail.toCursor, tail.request);
    if (frames.length < MAX_WRITE_CHARS && n < events.length - 1) continue;
    tail.sse.write(frames);
    tail.sent = event.position;
    frames = "";
    await tail.sse.drained();
    if (tail.disconnected.aborted) break;
  }
  return true;
}

const isWanted = ({ filter, sent }: Tail, { position, stream, type, command_id, meta }: AuditedEvent): boolean =>
  position > sent &&
  (filter.principal === undefined || filter.principal === meta.principal) &&
  (filter.command === undefined || filter.command === command_id) &&
  (filter.stream === undefined || filter.stream === stream) &&
  (filter.types === undefined || filter.types.includes(type));

/** Reads the log until the stream has everything that the follower has delivered. Returns false if the caller may no longer read. */
async function catchUp({ readAuditSlice, onCommitted }: Needs, check: Check, tail: Tail): Promise<boolean> {
  const { request, disconnected, follower, filter } = tail;
  while (!disconnected.aborted) {
    const handedOut = follower.position();
    const query = { ...filter, after: tail.sent, limit: BATCH_SIZE, bytes: MAX_READ_BYTES };
    const slice = await readAuditSlice(request.caller.organization_id, query).catch(() => undefined);
    const delivered = slice && (await deliver(check, tail, slice.events));
    if (delivered === false) return false;
    // no event can be committed between this comparison and the opening of the inbox
    if (delivered && !slice.more && follower.position() === handedOut) return true;
    if (!delivered) await waitForCommit(onCommitted, disconnected);
    if (!slice?.more) await sleep(RETRY_MS);
  }
  return false;
}

/** Sends what the follower delivers. Returns false if the caller may no longer read, and true if the stream must catch up. */
async function sendNew(check: Check, tail: Tail): Promise<boolean> {
  const inbox = tail.follower.openInbox();
  try {
    for (;;) {
      const events = await inbox.next(tail.disconnected);
      if (!events) return true;
      const delivered = await deliver(
        check,
        tail,
        events.filter((event) => isWanted(tail, event)),
      );
      if (delivered !== true) return delivered === undefined;
    }
  } finally {
    inbox.close();
  }
}

/** The position of the organization's newest event. The log's newest position would reveal when others write. */
async function findNewest({ readAuditSlice }: Needs, organization_id: string): Promise<number> {
  const newest = { after: Number.MAX_SAFE_INTEGER, limit: 1, newest_first: true };
  return (await readAuditSlice(organization_id, newest)).events[0]?.position ?? 0;
}

/**
 * Streams an organization's events as SSE when they are committed, until the client disconnects. The caller is authenticated
 * again before each batch, so the stream ends with the session or the role. All streams of an organization share one follower of
 * the log. Throws 429 `too_many_streams`.
 */
export function createTail(http: Needs, check: Check, toFrame: ToFrame) {
  const findFollower = createOrganizationFollowers(http);
  return async (request: FastifyRequest, reply: FastifyReply, { after, ...filter }: TailQuery): Promise<void> => {
    http.streams.count(reply);
    const { organization_id } = request.caller;
    const sent = after ?? (await findNewest(http, organization_id));
    const toCursor = createCursor(http, organization_id);
    const follower = await findFollower(organization_id);
    const disconnected = disconnectSignal(reply.raw);
    // a frame without data is not an event, but lets a client that reconnects before the first event resume here
    const sse = openEventStream(reply, `id: ${toCursor(sent)}\n\n`);
    const tail: Tail = { request, toFrame, toCursor, sse, disconnected, follower, filter, sent };
    try {
      while (!disconnected.aborted && (await catchUp(http, check, tail)) && (await sendNew(check, tail)));
    } finally {
      follower.release();
    }
    sse.end("");
  };
}
