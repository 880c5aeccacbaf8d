import type { FramePayload } from "#events/ports.ts";

type Emit = (frame: FramePayload) => void;
type Words = Extract<FramePayload, { type: "text" | "reasoning" }>;

/**
 * Milliseconds for which a frame collects further words: numbering, sending and presenting a frame costs more than its words. With
 * many turns it waits longer, so that there are fewer frames; readers still get at least 25 a second.
 */
const GATHER_MS = { least: 5, forEachTurn: 0.3, most: 40 };
/** UTF-16 units at which a frame is full. That is at most 48 KiB, far below the limit of a NATS message. */
const MAX_GATHERED = 16 * 1024;

const isWords = (frame: FramePayload): frame is Words => frame.type === "text" || frame.type === "reasoning";

/**
 * Merges words that arrive close together into one frame. Words after a pause, and all other frames, are sent at once and in order.
 * `countTurns`: the number of turns running in this process.
 */
export function mergeTextFrames(emit: Emit, countTurns: () => number): { emit: Emit; flush(): void } {
  const gatherMs = () => Math.min(Math.max(countTurns() * GATHER_MS.forEachTurn, GATHER_MS.least), GATHER_MS.most);
  let pending: Words | undefined;
  let timer: NodeJS.Timeout | undefined;
  let flushedAt = -Infinity;
  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const words = pending;
    pending = undefined;
    if (!words) return;
    flushedAt = performance.now();
    emit(words);
  }
  return {
    flush,
    emit(frame) {
      if (pending?.type !== frame.type) flush();
      if (!isWords(frame)) return emit(frame);
      const text = (pending?.text ?? "") + frame.text;
      pending = { type: frame.type, text };
      const wait = flushedAt + gatherMs() - performance.now();
      if (wait <= 0 || text.length > MAX_GATHERED) flush();
      else timer ??= setTimeout(flush, wait);
    },
  };
}
