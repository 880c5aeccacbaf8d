import { once } from "node:events";
import type { FastifyReply } from "fastify";

const PING_MS = 15_000;
/** A reader that takes nothing must not fill our memory. */
const MAX_BUFFERED = 1024 * 1024;
/** How long the last bytes may take once everything was said. */
const LINGER_MS = 60_000;

export interface EventStream {
  write(frames: string): void;
  end(frames: string): void;
  /** Resolves once the reader has taken what was written, or is gone: for whoever has much to tell at once. */
  drained(): Promise<void>;
  /** The reader took nothing for too long, and was cut off. */
  overflowed(): boolean;
}

/** Sends the headers of a stream of Server-Sent Events with its first frames. What hooks had set of headers goes with them. */
export function openEventStream(reply: FastifyReply, first: string): EventStream {
  const { raw } = reply;
  reply.hijack();
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
  });
  let overflowed = false;
  let waiting = "";
  const flush = () => {
    const frames = waiting;
    waiting = "";
    if (frames !== "" && !raw.destroyed && !raw.writableEnded) raw.write(frames);
  };
  const write = (frames: string) => {
    if (frames === "" || raw.destroyed || raw.writableEnded) return;
    overflowed = raw.writableLength > MAX_BUFFERED;
    if (overflowed) return void raw.destroy();
    // frames that arrive together leave together: one system call instead of one each
    if (waiting === "") process.nextTick(flush);
    waiting += frames;
  };
  const ping = setInterval(() => write(": ping\n\n"), PING_MS);
  raw.once("close", () => clearInterval(ping));
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
      raw.end(waiting + frames);
      waiting = "";
      const giveUp = setTimeout(() => raw.destroy(), LINGER_MS).unref();
      raw.once("close", () => clearTimeout(giveUp));
    },
  };
}
