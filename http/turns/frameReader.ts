import { newestAttempt } from "#events/newestAttempt.ts";
import type { Frame, Frames } from "#events/ports.ts";
import { createFrameOrder } from "./frameOrder.ts";

/** Wait between two loads of missing frames. It doubles up to the maximum. */
const FIRST_WAIT_MS = 200;
const MAX_WAIT_MS = 5_000;

/** Reads the frames of one turn in order. */
export interface FrameReader {
  /** Waits for the next frame. Returns undefined after `ms` without one, or once the reader is closed. */
  next(ms: number): Promise<Frame | undefined>;
  /** Loads the frames that were sent before this reader was opened. */
  catchUp(): Promise<void>;
  close(): void;
}

/** Opens a reader. It subscribes at once, and fills gaps between live frames with retained ones. */
export function openFrameReader(frames: Frames, organization: string, turn: string): FrameReader {
  const order = createFrameOrder();
  const ready: Frame[] = [];
  let wake: (() => void) | undefined;
  let isFilling = false;
  let isClosed = false;

  const push = (more: Frame[]) => {
    if (more.length === 0) return;
    for (const frame of more) ready.push(frame);
    wake?.();
  };
  async function catchUp(): Promise<void> {
    const retained = await frames.loadFrames(organization, turn);
    // the newest attempt is enough: it repeats the text of earlier attempts
    for (const frame of newestAttempt(retained)) push(order.accept(frame));
  }
  async function fillGap(): Promise<void> {
    if (isFilling) return;
    isFilling = true;
    // missing frames may be retained a moment later; frames that the bus lost never are, and then the end frame suffices
    for (let wait = FIRST_WAIT_MS; order.hasGap() && !isClosed; wait = Math.min(wait * 2, MAX_WAIT_MS)) {
      await catchUp().catch(() => {});
      const end = order.heldEnd();
      if (end) push([end]);
      if (end || !order.hasGap()) break;
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
    isFilling = false;
  }
  const unsubscribe = frames.subscribe(organization, turn, (frame) => {
    push(order.accept(frame));
    if (order.hasGap()) void fillGap();
  });

  return {
    catchUp,
    async next(ms) {
      if (ready.length === 0 && !isClosed)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      wake = undefined;
      return ready.shift();
    },
    close() {
      isClosed = true;
      unsubscribe();
      wake?.();
    },
  };
}
