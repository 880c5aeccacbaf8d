import type { FastifyReply } from "fastify";
import { currentTime } from "#events/clock.ts";
import { onSharedAbort } from "#events/onSharedAbort.ts";
import type { Frame, TurnEnd } from "#events/ports.ts";
import { NO_OUTPUT, NO_USAGE } from "#events/thread.ts";
import { getTurn } from "#projections/turns/query.ts";
import type { Http } from "../base/deps.ts";
import { onDisconnect } from "../base/disconnect.ts";
import { readRecordedAt } from "../base/send.ts";
import { encodeComment, openEventStream, type EventStream } from "../base/sse.ts";
import { unixSeconds } from "../base/times.ts";
import { MAX_CATCH_UP_MS, type FramePlace, type FrameReader } from "../turns/frameReader.ts";
import { SILENCE_MS } from "../turns/turnEnd.ts";
import { encodeEvents, type NumberedEvent } from "./encodeEvents.ts";
import type { ResponseRow } from "./lookups.ts";
import type { ResponseHead } from "./present.ts";
import { createStream, type ResponseStream, type StreamPlace } from "./responseStream.ts";
import { readResponseEnd, readFrames } from "./storedResponse.ts";

/** Maximum wait for the read model to show the end of a turn. */
const PROJECTION_MS = 5_000;

interface Rest {
  events: NumberedEvent[];
  end: TurnEnd;
}

/** The rest of an ended or deleted response, from storage; undefined while it runs. */
async function readRest(
  http: Http,
  organization: string,
  head: ResponseHead,
  stream: ResponseStream,
): Promise<Rest | undefined> {
  const { thread_id, turn_id } = head;
  if (await http.isTurnRunning(turn_id)) return undefined;
  const row = await getTurn(http.db, organization, turn_id);
  const ended = row && readResponseEnd(row as ResponseRow);
  if (ended) {
    const events = await stream.replay(await readFrames(http, row as ResponseRow), ended.end, ended.completed_at);
    return { events, end: ended.end };
  }
  if (row || !(await http.turnHistory.isDeleted(thread_id, turn_id))) return undefined;
  const end: TurnEnd = { status: "stopped", said: NO_OUTPUT, message: "", usage: NO_USAGE };
  return { events: stream.end(end, unixSeconds(new Date(currentTime()))), end };
}

/** What a stream sends first: at least a comment, because the headers are sent with it. */
const encodeFirst = async ({ request }: FastifyReply, events: NumberedEvent[]) =>
  events.length > 0 ? encodeEvents(events) : encodeComment(request);

const isNext = ({ attempt, n }: Frame, previous: FramePlace | undefined): boolean =>
  previous ? attempt === previous.attempt && n === previous.n + 1 : n === 0;

/**
 * Where a client continues a running response, of which the reader then has the retained frames. If the bus does not answer, only a
 * later attempt is recognized.
 */
export async function findPlace(
  reader: Pick<FrameReader, "catchUp">,
  { attempt }: Pick<ResponseRow, "attempt">,
  startAfter: number,
): Promise<StreamPlace> {
  const newest = await reader.catchUp().catch(() => ({ attempt, n: Number.MAX_SAFE_INTEGER }));
  return { startAfter, newest };
}

interface FollowedResponse {
  organization_id: string;
  head: ResponseHead;
  reader: FrameReader;
  place: StreamPlace;
  disconnected: AbortSignal;
  /** The row as read before; undefined for a turn that this request started. */
  row: ResponseRow | undefined;
}

/** Writes the output of a parked turn so far, from storage: after an hour the bus no longer holds it. */
async function writeParked(http: Http, row: ResponseRow | undefined, stream: ResponseStream, sse: EventStream) {
  if (!row?.parked_at) return;
  // with a lower attempt number, so that frames still on the bus count as repetitions
  const attempt = row.attempt - 1;
  const giveUp = AbortSignal.any([http.closing, AbortSignal.timeout(MAX_CATCH_UP_MS)]);
  for (const frame of await readFrames(http, row)) {
    sse.write(await encodeEvents(stream.next({ ...frame, attempt, n: 0 })));
    await sse.drainedBefore(giveUp);
  }
}

/**
 * Streams a running response. The turn continues when the client disconnects, and the client can reconnect to any process with
 * the number of its last event. Returns the turn's end if it was sent.
 */
export async function followResponse(
  http: Http,
  reply: FastifyReply,
  following: FollowedResponse,
): Promise<TurnEnd | undefined> {
  const { reader, disconnected } = following;
  const { head, place, row } = following;
  const stream = createStream(head, place);
  // sends the headers at once
  const sse = openEventStream(reply, await encodeFirst(reply, stream.open()));
  const closeReader = () => reader.close();
  onDisconnect(disconnected, closeReader);
  const ignoreClosing = onSharedAbort(http.closing, closeReader);
  try {
    await writeParked(http, row, stream, sse);
    return await writeUntilEnd(http, following, stream, sse);
  } catch (error) {
    // the headers are sent, and without an end the stream would stay open in silence
    sse.end(await encodeEvents(stream.breakOff()));
    throw error;
  } finally {
    ignoreClosing();
    reader.close();
  }
}

async function writeUntilEnd(
  http: Http,
  { organization_id, head, reader, disconnected }: FollowedResponse,
  stream: ResponseStream,
  sse: EventStream,
): Promise<TurnEnd | undefined> {
  let previous: FramePlace | undefined;
  while (!disconnected.aborted && !http.closing.aborted) {
    const frame = await reader.next(SILENCE_MS);
    if (frame && frame.type !== "end") {
      previous = frame;
      sse.write(await encodeEvents(stream.next(frame)));
      await reader.pace(sse);
      if (!stream.isOver()) continue;
      sse.end("");
      return undefined;
    }
    if (frame && isNext(frame, previous)) {
      const at = await readRecordedAt(http, frame.position).catch(() => new Date(currentTime()));
      sse.end(await encodeEvents(stream.end(frame.end, unixSeconds(at))));
      return frame.end;
    }
    // frames before this end were lost, so the stored ones are sent
    if (frame) await http.waitForProjections(["turns"], frame.position, PROJECTION_MS).catch(() => false);
    if (disconnected.aborted) break;
    const rest = await readRest(http, organization_id, head, stream).catch(() => undefined);
    if (rest === undefined) continue;
    sse.end(await encodeEvents(rest.events));
    return rest.end;
  }
  if (!disconnected.aborted) sse.end(await encodeEvents(stream.breakOff()));
  return undefined;
}

/** Streams a finished response, from its start or after an event. */
export async function replayResponse(
  http: Http,
  reply: FastifyReply,
  { head, row, startAfter }: { head: ResponseHead; row: ResponseRow; startAfter: number },
): Promise<void> {
  const { end, completed_at } = readResponseEnd(row)!;
  const stream = createStream(head, { startAfter, newest: undefined });
  const events = await stream.replay(await readFrames(http, row), end, completed_at);
  openEventStream(reply, await encodeFirst(reply, events)).end("");
}
