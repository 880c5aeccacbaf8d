import { once } from "node:events";
import type { FastifyReply, FastifyRequest } from "fastify";
import { ApiError } from "./errors.ts";
import { RECHECK_MS } from "./recheck.ts";

/** Between two comments that keep a silent stream open. */
const PING_MS = 15_000;
/** Unsent bytes at which a reader that does not keep up is disconnected. */
const MAX_BUFFERED = 1024 * 1024;
/** Frames that follow others so soon share one system call with those after them. No reader notices, and a write costs as much as making ten frames. */
const GATHER_MS = 5;
/** Characters that are written at once: few, so that it is known how much a reader leaves unread. */
const MAX_GATHERED = 16 * 1024;
/** How long the last bytes may take after `end`. */
const LINGER_MS = 60_000;

export interface EventStream {
  write(frames: string): void;
  end(frames: string): void;
  /** Resolves once the written bytes are sent, or the reader has disconnected: to wait between large writes. */
  drained(): Promise<void>;
  /** The reader was disconnected because it did not keep up. */
  overflowed(): boolean;
}

/** Whether the caller may still read. A check that fails for another reason is repeated later. */
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

/** Sends the headers of a stream of Server-Sent Events, including those that hooks set, with its first frames. */
export function openEventStream(reply: FastifyReply, first: string, pingMs = PING_MS): EventStream {
  const { raw } = reply;
  reply.hijack();
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
  });
  let overflowed = false;
  let pending = "";
  let flushedAt = 0;
  const flush = () => {
    const frames = pending;
    pending = "";
    flushedAt = performance.now();
    if (frames !== "" && !raw.destroyed && !raw.writableEnded) raw.write(frames);
  };
  const scheduleFlush = () => {
    const wait = flushedAt + GATHER_MS - performance.now();
    if (wait > 0) setTimeout(flush, wait);
    else process.nextTick(flush);
  };
  const write = (frames: string) => {
    if (frames === "" || raw.destroyed || raw.writableEnded) return;
    overflowed = raw.writableLength > MAX_BUFFERED;
    if (overflowed) return void raw.destroy();
    if (pending === "") scheduleFlush();
    pending += frames;
    if (pending.length > MAX_GATHERED) flush();
  };
  const ping = setInterval(() => write(": ping\n\n"), pingMs);
  raw.once("close", () => clearInterval(ping));
  if (reply.request.recheckCredential) watchCredential(reply);
  write(first);

  return {
    write,
    overflowed: () => overflowed,
    async drained() {
      flush();
      if (!raw.writableNeedDrain || raw.destroyed) return;
      const over = new AbortController();
      const { signal } = over;
      await Promise.race(["drain", "close"].map((event) => once(raw, event, { signal }).catch(() => {})));
      over.abort();
    },
    end(frames) {
      clearInterval(ping);
      if (raw.destroyed) return;
      raw.end(pending + frames);
      pending = "";
      const giveUp = setTimeout(() => raw.destroy(), LINGER_MS).unref();
      raw.once("close", () => clearTimeout(giveUp));
    },
  };
}
