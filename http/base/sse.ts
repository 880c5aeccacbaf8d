import { once } from "node:events";
import type { FastifyReply, FastifyRequest } from "fastify";
import { ApiError } from "./errors.ts";
import { RECHECK_MS } from "./recheck.ts";

/** Interval of the frames that keep a silent stream open. */
const PING_MS = 15_000;
/** A slow reader is disconnected at this number of unsent bytes, plus those of the longest piece, which takes a while to send. */
const MAX_BUFFERED = 1024 * 1024;
/** Frames within this time are written together, because a write costs as much as making ten frames. No reader notices the delay. */
const GATHER_MS = 5;
/** Characters per write. Small writes show how much a reader leaves unread. */
const MAX_GATHERED = 16 * 1024;
/** Maximum time to send the last bytes after `end`. */
const LINGER_MS = 60_000;

/** Text, or the bytes of long frames in pieces: encoding megabytes at once would block the event loop. */
type Frames = string | Buffer[];

export interface EventStream {
  write(frames: Frames): void;
  end(frames: Frames): void;
  /** Resolves once the written bytes are sent or the reader has disconnected. Await it between large writes. */
  drained(): Promise<void>;
  /** Waits until the connection takes more, at most until `signal` aborts. Does not flush: short frames are written together. */
  drainedBefore(signal: AbortSignal): Promise<void>;
  /** Whether the reader was disconnected because it was too slow. */
  hasOverflowed(): boolean;
}

/** Whether the caller's credential is still valid. True if the check itself fails, since it is repeated. */
async function isStillAllowed({ recheckCredential }: FastifyRequest): Promise<boolean> {
  try {
    await recheckCredential?.();
    return true;
  } catch (error) {
    return !(error instanceof ApiError && [401, 403].includes(error.status));
  }
}

/** Disconnects the reader once its credential is no longer valid. */
function watchCredential({ request, raw }: FastifyReply): void {
  const later = () => setTimeout(() => void check(), RECHECK_MS).unref();
  let timer = later();
  raw.once("close", () => clearTimeout(timer));
  async function check(): Promise<void> {
    if (!(await isStillAllowed(request))) return void raw.destroy();
    if (!raw.destroyed && !raw.writableEnded) timer = later();
  }
}

/**
 * A comment, which clients skip. OpenAI's client for Go fails before version 3.43 at a blank line after a comment, so for Go the
 * comment has none and belongs to the next event. Other clients get the line, because some skip an event that begins with a comment.
 */
export const encodeComment = ({ headers }: Pick<FastifyRequest, "headers">, text = "ping"): string =>
  `: ${text}\n${headers["x-stainless-lang"] === "go" ? "" : "\n"}`;

/** Writes the headers, including those set by hooks. */
function writeHead(reply: FastifyReply): void {
  reply.hijack();
  reply.raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
  });
}

interface StreamOptions {
  pingMs?: number;
  /** What keeps a silent stream open; a comment by default. */
  ping?: () => string;
}

/** Writes short frames together and long ones in pieces. Disconnects a reader that is too slow. */
function createFrameWriter(raw: FastifyReply["raw"]) {
  let hasOverflowed = false;
  let pending = "";
  let flushedAt = 0;
  let longest = 0;
  function flush(): void {
    const frames = pending;
    pending = "";
    flushedAt = performance.now();
    if (frames !== "" && !raw.destroyed && !raw.writableEnded) raw.write(frames);
  }
  function scheduleFlush(): void {
    const wait = flushedAt + GATHER_MS - performance.now();
    if (wait > 0) setTimeout(flush, wait);
    else process.nextTick(flush);
  }
  /** Writes all pieces at once, so that no other frame comes in between. */
  function writePieces(pieces: Buffer[]): void {
    flush();
    const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
    longest = Math.max(longest, bytes);
    for (const piece of pieces) raw.write(piece);
  }
  return {
    flush,
    hasOverflowed: () => hasOverflowed,
    write(frames: Frames): void {
      if (frames.length === 0 || raw.destroyed || raw.writableEnded) return;
      hasOverflowed = raw.writableLength > MAX_BUFFERED + longest;
      if (hasOverflowed) return void raw.destroy();
      if (typeof frames !== "string") return writePieces(frames);
      if (frames.length > MAX_GATHERED) longest = Math.max(longest, Buffer.byteLength(frames));
      if (pending === "") scheduleFlush();
      pending += frames;
      if (pending.length > MAX_GATHERED) flush();
    },
    end(frames: Frames): void {
      if (typeof frames === "string") raw.end(pending + frames);
      else {
        writePieces(frames);
        raw.end();
      }
      pending = "";
    },
  };
}

/** Waits that share their listeners, because the stream of a run may wait for twenty agents at a time. */
function createDrainWait(raw: FastifyReply["raw"]) {
  let draining: Promise<void> | undefined;
  async function drain(): Promise<void> {
    const over = new AbortController();
    const { signal } = over;
    await Promise.race(["drain", "close"].map((event) => once(raw, event, { signal }).catch(() => {})));
    over.abort();
    draining = undefined;
  }
  return async (giveUp?: AbortSignal): Promise<void> => {
    if (!raw.writableNeedDrain || raw.destroyed || giveUp?.aborted) return;
    draining ??= drain();
    if (!giveUp) return draining;
    const over = new AbortController();
    await Promise.race([draining, once(giveUp, "abort", { signal: over.signal }).catch(() => {})]);
    over.abort();
  };
}

/** Opens a stream of Server-Sent Events: sends the headers and the first frames. */
export function openEventStream(
  reply: FastifyReply,
  first: Frames,
  { pingMs = PING_MS, ping = () => encodeComment(reply.request) }: StreamOptions = {},
): EventStream {
  const { raw } = reply;
  writeHead(reply);
  const writer = createFrameWriter(raw);
  const waitForDrain = createDrainWait(raw);
  const pinging = setInterval(() => writer.write(ping()), pingMs);
  // a reader that has left before emits no further event
  if (raw.destroyed) clearInterval(pinging);
  else raw.once("close", () => clearInterval(pinging));
  if (reply.request.recheckCredential) watchCredential(reply);
  writer.write(first);

  return {
    write: writer.write,
    hasOverflowed: writer.hasOverflowed,
    drained() {
      writer.flush();
      return waitForDrain();
    },
    drainedBefore: waitForDrain,
    end(frames) {
      clearInterval(pinging);
      if (raw.destroyed) return;
      writer.end(frames);
      const giveUp = setTimeout(() => raw.destroy(), LINGER_MS).unref();
      raw.once("close", () => clearTimeout(giveUp));
    },
  };
}
