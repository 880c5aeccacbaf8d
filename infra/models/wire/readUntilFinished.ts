import { setTimeout as wait } from "node:timers/promises";
import { linkAborter } from "#events/linkAborter.ts";
import { beginWork } from "#events/slices.ts";
import { ModelError } from "#services/turns/model.ts";

/** How long to wait for the end of the transfer after the answer is complete. */
const DRAIN_MS = 1_000;
/** Pieces of one answer, empty ones included. The longest answers have 130,000 tokens, and a piece for each. */
const MAX_PIECES = 500_000;
/**
 * The pieces of a streamed answer. `send` opens the stream, which gives lists of pieces that arrived together; its signal aborts the request when the reader stops. Once `isFinished` says
 * that the answer is complete, the rest is awaited briefly, so that the connection can be reused, and no failure counts any more.
 * Throws a ModelError for an endless answer.
 */
export async function* readUntilFinished<T>(
  send: (signal: AbortSignal) => Promise<AsyncIterable<T[]>>,
  isFinished: () => boolean,
  signal: AbortSignal,
): AsyncGenerator<T> {
  const sending = linkAborter(signal);
  const pause = beginWork();
  let isOver = false;
  try {
    const lists = (await send(sending.signal))[Symbol.asyncIterator]();
    let count = 0;
    for (;;) {
      const next = lists.next();
      const read = await (isFinished() ? Promise.race([next, wait(DRAIN_MS, undefined, { ref: false })]) : next);
      isOver = read?.done === true;
      if (!read || read.done) return;
      for (const piece of read.value) {
        if (count++ === MAX_PIECES) throw new ModelError("cut", "The provider's answer never ends.");
        yield piece;
        await pause();
      }
    }
  } catch (error) {
    if (!isFinished()) throw error;
  } finally {
    sending.unlink();
    // an abort makes an error with its stack for everything that listens
    if (!isOver) sending.abort();
  }
}
