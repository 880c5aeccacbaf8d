import type { FastifyReply } from "fastify";
import type { Frame, TurnEnd } from "#events/ports.ts";
import { NO_USAGE } from "#events/thread.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { openEventStream, type EventStream } from "../sse.ts";
import type { Begun } from "./begin.ts";
import { chunksFor, NOTHING_SENT, type Sent } from "./chunks.ts";
import { presentCompletion } from "./present.ts";
import { failureOf, SILENCE_MS, storedEnd, waitForEnd } from "./turn.ts";
import { isRead, noteUnanswered, onGone, reads, takeUnanswered } from "./unanswered.ts";

/** A person who pressed stop does not come back; a client that lost its connection does, within this time. */
const STOP_AFTER_MS = 3_000;
const LEAVING = "The service is being restarted: try again. The turn goes on, and a retry is answered with it.";

/** Answers with the whole completion once the turn has ended. A client that goes away leaves the turn running. */
export async function answerBuffered(http: Http, reply: FastifyReply, { turn, feed, end }: Begun, gone: AbortSignal) {
  onGone(gone, () => {
    feed.close();
    void noteUnanswered(http, turn);
  });
  let ended = end;
  try {
    ended ??= await waitForEnd(http, turn, feed, gone);
  } finally {
    feed.close();
  }
  if (!ended) return reply.hijack();
  http.metrics.turn(ended);
  if (ended.status === "refused" || ended.status === "failed") throw failureOf(ended);
  return presentCompletion(turn, ended);
}

const cameToNothing = (end: TurnEnd): end is Extract<TurnEnd, { message: string }> =>
  end.status === "refused" || (end.status === "failed" && end.said.text === "" && end.said.reasoning === "");

const brokenOff = ({ text, reasoning }: Sent, message: string): TurnEnd => ({
  status: "failed",
  said: { text, reasoning, citations: [] },
  usage: NO_USAGE,
  message,
});

/**
 * Answers with the turn's chunks as they come. Headers go out with the first of them, so that a provider's refusal
 * is a plain 502. A client that goes away after that stops the turn.
 */
export async function answerStreamed(
  http: Http,
  reply: FastifyReply,
  { turn, feed, end: before }: Begun,
  gone: AbortSignal,
) {
  const chunks = chunksFor(turn);
  const stopReading = reads(turn);
  const leave = () => feed.close();
  http.closing.addEventListener("abort", leave, { once: true });
  let stream: EventStream | undefined;
  let sent = NOTHING_SENT;
  let end = before;
  onGone(gone, () => {
    feed.close();
    stopReading();
    const stops = stream !== undefined && !end && !stream.overflowed();
    void noteUnanswered(http, turn).then(() => stops && stopLater(http, turn));
  });
  const hear = (frame: Exclude<Frame, { type: "end" }>) => {
    const [next, text] = chunks.fold(sent, frame);
    sent = next;
    if (stream) stream.write(text);
    else if (text) stream = openEventStream(reply, chunks.opening + text);
  };
  const lookUp = () =>
    storedEnd(http, turn).catch((error: unknown) => {
      if (!stream) throw error;
      // the headers are out: what is final ends the stream, and after a look that failed the next one may work
      return error instanceof ApiError ? brokenOff(sent, error.message) : undefined;
    });

  try {
    while (!end && !gone.aborted && !http.closing.aborted) {
      const frame = await feed.next(SILENCE_MS);
      if (frame?.type === "end") end = frame.end;
      else if (frame) hear(frame);
      else if (!gone.aborted) end = await lookUp();
    }
  } finally {
    http.closing.removeEventListener("abort", leave);
    feed.close();
    stopReading();
  }
  if (!end && !gone.aborted) {
    await noteUnanswered(http, turn);
    if (!stream) throw new ApiError("unavailable", LEAVING);
    return stream.end(chunks.ending(sent, brokenOff(sent, LEAVING)));
  }
  if (!end) return void reply.hijack();
  http.metrics.turn(end);
  if (!stream && cameToNothing(end)) throw failureOf(end);
  (stream ?? openEventStream(reply, chunks.opening)).end(chunks.ending(sent, end));
}

/** Stops a turn whose reader went away, unless a retry reads it, here or (then the turn is that process's) elsewhere. */
function stopLater(http: Http, turn: Begun["turn"]): void {
  setTimeout(() => {
    takeUnanswered(http, turn)
      .then((left) => left && !isRead(turn) && http.frames.stop(turn.organization_id, turn.turn_id))
      .catch((error) =>
        http.logger.warn({ err: error, turn_id: turn.turn_id }, "could not stop a turn without a reader"),
      );
  }, STOP_AFTER_MS).unref();
}
