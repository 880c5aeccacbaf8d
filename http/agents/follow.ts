import type { FastifyReply } from "fastify";
import { getTurn } from "#projections/turns/query.ts";
import type { Feed } from "../chat/feed.ts";
import { SILENCE_MS } from "../chat/turn.ts";
import { onGone } from "../chat/unanswered.ts";
import type { Http } from "../deps.ts";
import { openEventStream } from "../sse.ts";
import type { ResponseRow } from "./find.ts";
import type { ResponseHead } from "./present.ts";
import { endedAt, toldBy } from "./stored.ts";
import { createStream } from "./stream.ts";

const seconds = (): number => Math.floor(Date.now() / 1000);

/** The row of a response that has ended meanwhile; undefined while it runs, and while nobody can say. */
async function ended(http: Http, organization: string, turn_id: string): Promise<ResponseRow | undefined> {
  const row = await getTurn(http.db, organization, turn_id).catch(() => undefined);
  return row && row.status !== "running" ? (row as ResponseRow) : undefined;
}

interface Following {
  organization_id: string;
  head: ResponseHead;
  feed: Feed;
  /** Number of the last event that the client has. */
  startAfter: number;
  gone: AbortSignal;
}

/**
 * Sends a running response as it comes. A client that goes away leaves it running; it can come back with the number of the
 * last event that it got, to any process.
 */
export async function followResponse(
  http: Http,
  reply: FastifyReply,
  { organization_id, head, feed, startAfter, gone }: Following,
): Promise<void> {
  const stream = createStream(head, startAfter);
  // headers go out at once, whatever there is to say
  const sse = openEventStream(reply, stream.open() || ": ping\n\n");
  onGone(gone, () => feed.close());
  try {
    while (!gone.aborted) {
      const frame = await feed.next(SILENCE_MS);
      if (frame?.type === "end") return sse.end(stream.end(frame.end, seconds()));
      if (frame) {
        sse.write(stream.next(frame));
        continue;
      }
      const row = gone.aborted ? undefined : await ended(http, organization_id, head.turn_id);
      if (!row) continue;
      const { end, completed_at } = endedAt(row)!;
      return sse.end(stream.replay(await toldBy(http, row), end, completed_at));
    }
  } finally {
    feed.close();
  }
}

/** Sends what a finished response told, from its start or after an event. */
export async function replayResponse(
  http: Http,
  reply: FastifyReply,
  { head, row, startAfter }: { head: ResponseHead; row: ResponseRow; startAfter: number },
): Promise<void> {
  const { end, completed_at } = endedAt(row)!;
  const text = createStream(head, startAfter).replay(await toldBy(http, row), end, completed_at);
  openEventStream(reply, text || ": ping\n\n").end("");
}
