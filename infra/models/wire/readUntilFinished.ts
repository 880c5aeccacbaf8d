import { setTimeout as wait } from "node:timers/promises";
import { linkAborter } from "#events/linkAborter.ts";
import { beginWork } from "#events/slices.ts";
import { ModelError, type ModelEvent } from "#services/turns/model.ts";

/** How long to wait for the end of the transfer after the answer is complete. */
const DRAIN_MS = 1_000;
/** Pieces of one answer, empty ones included. The longest answers have 130,000 tokens, and a piece for each. */
const MAX_PIECES = 500_000;

/** Collects events of an answer. Words that follow others of their kind join them, but for the first ones: these reach the reader alone. */
function createJoiner() {
  let events: ModelEvent[] = [];
  let first: ModelEvent | undefined;
  return {
    add(event: ModelEvent): void {
      const last = events.at(-1);
      const isSame = last?.type === event.type && (last.type === "text" || last.type === "reasoning");
      if (isSame && event.type === last.type && last !== first)
        events[events.length - 1] = { ...last, text: last.text + event.text };
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
  /** Opens the stream, which gives lists of pieces that arrived together; the signal aborts the request when the reader stops. */
  send(signal: AbortSignal): Promise<AsyncIterable<T[]>>;
  /** What a piece says. */
  toEvents(piece: T): Iterable<ModelEvent>;
  /**
   * Whether the answer is complete: the rest is awaited briefly, so that the connection can be reused, and no failure counts any more.
   */
  isFinished(): boolean;
}

/**
 * The events of a streamed answer. Words that arrived together after the first are one event, because each passes through all that
 * reads the answer; those before a failure come first. Throws a ModelError for an endless answer.
 */
export async function* readUntilFinished<T>(
  { send, toEvents, isFinished }: StreamedAnswer<T>,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const sending = linkAborter(signal);
  const pause = beginWork();
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
    // an abort makes an error with its stack for everything that listens
    if (!isOver) sending.abort();
  }
}
