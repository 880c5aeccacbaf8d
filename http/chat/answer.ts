import type { FastifyReply } from "fastify";
import { onSharedAbort } from "#events/onSharedAbort.ts";
import type { Frame, TurnEnd } from "#events/ports.ts";
import { isAlias } from "#events/route.ts";
import { NO_USAGE } from "#events/thread.ts";
import type { Http } from "../base/deps.ts";
import { onDisconnect } from "../base/disconnect.ts";
import { ApiError } from "../base/errors.ts";
import { recheckAfterWait } from "../base/recheck.ts";
import { encodeComment, openEventStream, type EventStream } from "../base/sse.ts";
import type { FrameReader } from "../turns/frameReader.ts";
import { SILENCE_MS, storedEnd, turnFailure, waitForEnd } from "../turns/turnEnd.ts";
import { endHeaders, modelHeader, type AttachedTurn, type TurnHandle } from "../turns/turnHandle.ts";
import { recordAbandonedTurn } from "../turns/recordAbandonedTurn.ts";
import { chunksFor, NOTHING_SENT } from "./chunks.ts";
import { presentCompletion } from "./present.ts";
import { countReader, hasReader } from "./streamReaders.ts";

/**
 * After a disconnect, wait this long before stopping the turn: a client that lost its connection retries sooner, a person who
 * pressed stop does not.
 */
const STOP_AFTER_MS = 3_000;
/** Clients and proxies drop a connection without bytes. After this silence the stream sends its headers, and then empty chunks. */
const KEEP_ALIVE_MS = 10_000;
const RESTARTING = "The server is restarting and the turn continues. Retry the request to get its answer.";

const STOPPED =
  "The turn of this request was stopped before its answer was complete. Send a new Idempotency-Key to ask again.";

/** A repeated request gets an error for a stopped turn, because the client would take the partial answer for the whole one. */
const endForRepetition = (end: TurnEnd | undefined): TurnEnd | undefined =>
  end?.status === "stopped" ? { ...end, status: "failed", message: STOPPED } : end;

/** Answers with the whole completion once the turn has ended. The turn continues when the client disconnects. */
export async function answerBuffered(
  http: Http,
  reply: FastifyReply,
  { turn, reader, end: endBefore }: AttachedTurn,
  disconnected: AbortSignal,
) {
  onDisconnect(disconnected, () => {
    reader.close();
    void recordAbandonedTurn(http, turn);
  });
  let end = endForRepetition(endBefore);
  try {
    end ??= await waitForEnd(http, turn, reader, disconnected);
  } finally {
    reader.close();
  }
  if (!end) return reply.hijack();
  http.metrics.turn(end);
  await recheckAfterWait(reply);
  reply.headers(endHeaders(end));
  if (isFailure(end)) throw turnFailure(end);
  return presentCompletion(turn, end);
}

const isFailure = (end: TurnEnd): end is Extract<TurnEnd, { message: string }> =>
  end.status === "refused" || end.status === "failed";

const hasNoOutput = (end: TurnEnd): end is Extract<TurnEnd, { message: string }> =>
  end.status === "refused" || (end.status === "failed" && end.said.text === "" && end.said.reasoning === "");

/**
 * Delays the headers until the first chunk, so that an earlier failure can still be answered with a status. After a long silence,
 * while tools run for example, the headers are sent anyway to keep the connection alive. For an alias a comment follows instead of a
 * chunk: all chunks name the same model, and its target may not be known yet.
 */
function createChunkStream(reply: FastifyReply, turn: TurnHandle) {
  const chunks = chunksFor(turn);
  let stream: EventStream | undefined;
  let hasBegun = false;
  let progress = NOTHING_SENT;
  const waiting = () => encodeComment(reply.request, "waiting for the model");
  const ping = () => (hasBegun ? chunks.idle() : waiting());
  const open = (first: string) => (stream ??= openEventStream(reply, first, { pingMs: KEEP_ALIVE_MS, ping }));
  /** The frames, after the first chunk if it was not sent yet. */
  const begin = (frames: string): string => {
    const begun = hasBegun ? frames : chunks.open() + frames;
    hasBegun = true;
    return begun;
  };
  const silence = setTimeout(() => open(isAlias(turn.model) ? waiting() : begin("")), KEEP_ALIVE_MS);
  return {
    /** Cancels the timer that sends the headers after a silence. */
    close: () => clearTimeout(silence),
    isOpen: () => stream !== undefined,
    hasOverflowed: () => stream?.hasOverflowed() ?? false,
    write(frame: Exclude<Frame, { type: "end" }>): void {
      const [next, text] = chunks.fold(progress, frame);
      progress = next;
      if (frame.type === "target" && !stream) reply.headers(modelHeader(frame.model));
      if (!text && frame.type !== "calls") return;
      const frames = begin(text);
      if (stream) stream.write(frames);
      else open(frames);
    },
    /** Waits for a client that gets retained frames. */
    async pace(reader: FrameReader): Promise<void> {
      if (stream) await reader.pace(stream);
    },
    end(end: TurnEnd): void {
      const ending = chunks.ending(progress, end);
      open("").end(begin(ending));
    },
    /** A failed turn end that contains what was sent so far. */
    failedEnd(message: string): TurnEnd {
      const { text, reasoning } = progress;
      return { status: "failed", said: { text, reasoning, citations: [] }, usage: NO_USAGE, message };
    },
  };
}
type ChunkStream = ReturnType<typeof createChunkStream>;

/** Writes frames until the turn ends. Returns undefined when the client disconnects or the server shuts down first. */
async function writeUntilEnd(
  http: Http,
  { turn, reader }: AttachedTurn,
  stream: ChunkStream,
  disconnected: AbortSignal,
): Promise<TurnEnd | undefined> {
  while (!disconnected.aborted && !http.closing.aborted) {
    const frame = await reader.next(SILENCE_MS);
    if (frame?.type === "end") return frame.end;
    if (frame) {
      stream.write(frame);
      await stream.pace(reader);
    } else if (!disconnected.aborted) {
      const end = await storedEnd(http, turn).catch((error: unknown) => {
        if (!stream.isOpen()) throw error;
        // once the headers are sent, an ApiError ends the stream; after other errors the look-up is repeated
        return error instanceof ApiError ? stream.failedEnd(error.message) : undefined;
      });
      if (end) return end;
    }
  }
  return undefined;
}

/**
 * Sends the turn's chunks as they arrive. The turn is stopped when the client disconnects after the first one. If a repeated
 * request finds its turn failed or stopped, it gets the error status, as in a buffered answer.
 */
export async function answerStreamed(
  http: Http,
  reply: FastifyReply,
  attached: AttachedTurn,
  disconnected: AbortSignal,
): Promise<void> {
  const { turn, reader } = attached;
  let end = endForRepetition(attached.end);
  if (end && isFailure(end)) {
    reader.close();
    throw turnFailure(end);
  }
  const stream = createChunkStream(reply, turn);
  const stopCounting = countReader(turn);
  onDisconnect(disconnected, () => {
    reader.close();
    stopCounting();
    const stops = stream.isOpen() && !end && !stream.hasOverflowed();
    void recordAbandonedTurn(http, turn).then(() => stops && stopLater(http, turn));
  });
  const closeReader = () => reader.close();
  const ignoreClosing = onSharedAbort(http.closing, closeReader);
  try {
    end ??= await writeUntilEnd(http, attached, stream, disconnected);
  } finally {
    ignoreClosing();
    reader.close();
    stopCounting();
    stream.close();
  }
  if (!end && disconnected.aborted) return void reply.hijack();
  if (!end) {
    await recordAbandonedTurn(http, turn);
    if (!stream.isOpen()) throw new ApiError("unavailable", RESTARTING);
    return stream.end(stream.failedEnd(RESTARTING));
  }
  http.metrics.turn(end);
  if (!stream.isOpen() && hasNoOutput(end)) throw turnFailure(end);
  stream.end(end);
}

/** Stops a turn whose client disconnected, unless a retry reads it by then, in this process or in another one. */
function stopLater(http: Http, turn: TurnHandle): void {
  const { organization_id, turn_id, command_id } = turn;
  setTimeout(() => {
    http.abandonedTurns
      .remove(organization_id, command_id)
      .then((isOurs) => isOurs && !hasReader(turn) && http.frames.requestStop(organization_id, turn_id))
      .catch((error) => http.logger.warn({ err: error, turn_id }, "turn without a reader not stopped"));
  }, STOP_AFTER_MS).unref();
}
