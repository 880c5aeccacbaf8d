import type { FastifyReply } from "fastify";
import { streamOf } from "#events/ids.ts";
import type { Frame, TurnEnd } from "#events/ports.ts";
import { NO_USAGE } from "#events/thread.ts";
import { getTurn } from "#projections/turns/query.ts";
import type { Feed } from "../chat/feed.ts";
import { SILENCE_MS } from "../chat/turn.ts";
import { onGone } from "../chat/unanswered.ts";
import type { Http } from "../deps.ts";
import { writtenAt } from "../send.ts";
import { openEventStream } from "../sse.ts";
import type { ResponseRow } from "./find.ts";
import type { ResponseHead } from "./present.ts";
import { endedAt, toldBy } from "./stored.ts";
import { createStream, type ResponseStream } from "./stream.ts";

const PROJECTION_MS = 5_000;

const seconds = (date: Date): number => Math.floor(date.getTime() / 1000);

async function wasDeleted({ db }: Http, { thread_id, turn_id }: ResponseHead): Promise<boolean> {
  const rows = await db.query(
    `select from log.events where stream = $1 and
       (type = 'ThreadDeleted' or type = 'TurnDeleted' and data::json->>'turn_id' = $2)`,
    [streamOf("thread", thread_id), turn_id],
  );
  return rows.length > 0;
}

/** The rest of a response that has ended or was deleted meanwhile, from what is stored; undefined while it runs. */
async function restOf(
  http: Http,
  organization: string,
  head: ResponseHead,
  stream: ResponseStream,
): Promise<{ text: string; end: TurnEnd } | undefined> {
  const row = await getTurn(http.db, organization, head.turn_id);
  const ended = row && endedAt(row as ResponseRow);
  if (ended) {
    const text = stream.replay(await toldBy(http, row as ResponseRow), ended.end, ended.completed_at);
    return { text, end: ended.end };
  }
  if (row || !(await wasDeleted(http, head))) return undefined;
  const said = { text: "", reasoning: "", citations: [] };
  const end: TurnEnd = { status: "stopped", said, message: "", usage: NO_USAGE };
  return { text: stream.end(end, seconds(new Date())), end };
}

const isNext = ({ attempt, n }: Frame, heard: Pick<Frame, "attempt" | "n"> | undefined): boolean =>
  heard ? attempt === heard.attempt && n === heard.n + 1 : n === 0;

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
 * last event that it got, to any process. Resolves with the turn's end where it was told.
 */
export async function followResponse(
  http: Http,
  reply: FastifyReply,
  { organization_id, head, feed, startAfter, gone }: Following,
): Promise<TurnEnd | undefined> {
  const stream = createStream(head, startAfter);
  // headers go out at once, whatever there is to say
  const sse = openEventStream(reply, stream.open() || ": ping\n\n");
  const leave = () => feed.close();
  onGone(gone, leave);
  http.closing.addEventListener("abort", leave, { once: true });
  let heard: Pick<Frame, "attempt" | "n"> | undefined;
  try {
    while (!gone.aborted && !http.closing.aborted) {
      const frame = await feed.next(SILENCE_MS);
      if (frame && frame.type !== "end") {
        heard = frame;
        sse.write(stream.next(frame));
        if (!stream.over()) continue;
        sse.end("");
        return undefined;
      }
      if (frame && isNext(frame, heard)) {
        const at = await writtenAt(http, frame.position).catch(() => new Date());
        sse.end(stream.end(frame.end, seconds(at)));
        return frame.end;
      }
      // an end may come without what was said before it; then it is told from what is stored
      if (frame) await http.passed(["turns"], frame.position, PROJECTION_MS).catch(() => false);
      // while nobody can say how it stands, it is asked for again
      const rest = gone.aborted ? undefined : await restOf(http, organization_id, head, stream).catch(() => undefined);
      if (rest === undefined) continue;
      sse.end(rest.text);
      return rest.end;
    }
    if (!gone.aborted) sse.end(stream.breakOff());
    return undefined;
  } finally {
    http.closing.removeEventListener("abort", leave);
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
