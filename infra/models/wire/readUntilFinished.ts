import { setTimeout as wait } from "node:timers/promises";
import { linkAborter } from "#events/linkAborter.ts";
import { createPause } from "#events/slices.ts";
import { ModelError, type ModelEvent } from "#services/turns/model.ts";

/** How long to wait for the end of the transfer once the answer is complete. */
const DRAIN_MS = 1_000;
/** Maximum pieces of one answer, including empty ones. The longest answers have 130,000 tokens, and one piece for each. */
const MAX_PIECES = 500_000;

/**
 * Collects the events of an answer. Words that follow words of the same kind are joined with them. The first event stays alone,
 * so that it reaches the reader at once.
 */
function createJoiner() {
  let events: ModelEvent[] = [];
  let first: ModelEvent | undefined;
  return {
    add(event: ModelEvent): void {
      const last = events.at(-1);
      if (event.type === "progress" && last?.type === "progress") return;
      const isSame = last?.type === event.type && (last.type === "text" || last.type === "reasoning");
      if (isSame && event.type === last.type && last !== first) last.text += event.text;
      else events.push(event);
      first ??= event;
    },
    take(): ModelEvent[] {
      const taken = events;
      events = [];
      return taken;
    },
  };
}

interface StreamedAnswer<T> {
  /** Opens the stream, which yields lists of pieces that arrived together. The signal aborts the request when the reader stops. */
  send(signal: AbortSignal): Promise<AsyncIterable<T[]>>;
  /** The events of a piece. */
  toEvents(piece: T): Iterable<ModelEvent>;
  /** Whether the answer is complete. After that, the rest is awaited only briefly, so that the connection can be reused, and failures are ignored. */
  isFinished(): boolean;
}

/**
 * Yields the events of a streamed answer. After the first event, words that arrived together are joined into one, because every event
 * passes through all stages. Yields all events before a failure, and then throws. Throws a ModelError if the answer does not end.
 */
export async function* readUntilFinished<T>(
  { send, toEvents, isFinished }: StreamedAnswer<T>,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const sending = linkAborter(signal);
  const pause = createPause();
  const joiner = createJoiner();
  let isOver = false;
  try {
    const lists = (await send(sending.signal))[Symbol.asyncIterator]();
    let count = 0;
    for (;;) {
      const next = lists.next();
      const read = await (isFinished() ? Promise.race([next, wait(DRAIN_MS, undefined, { ref: false })]) : next);
      isOver = read?.done === true;
      if (!read || read.done) return;
      try {
        for (const piece of read.value) {
          if (count++ === MAX_PIECES) throw new ModelError("cut", "The provider's answer never ends.");
          for (const event of toEvents(piece)) joiner.add(event);
          const turn = pause();
          if (turn) await turn;
        }
      } finally {
        for (const event of joiner.take()) yield event;
      }
    }
  } catch (error) {
    if (!isFinished()) throw error;
  } finally {
    sending.unlink();
    // aborting creates an error with a stack for every listener, so only if needed
    if (!isOver) sending.abort();
  }
}
