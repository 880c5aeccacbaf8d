import { setImmediate } from "node:timers/promises";
import { newestAttempt } from "#events/newestAttempt.ts";
import type { Frame, Frames } from "#events/ports.ts";
import type { EventStream } from "../base/sse.ts";
import { createFrameOrder } from "./frameOrder.ts";

/** Wait between two loads of missing frames. It doubles up to the maximum. */
const FIRST_WAIT_MS = 200;
const MAX_WAIT_MS = 5_000;
/**
 * While retained frames are returned, which come all at once, their writer waits for its client for this long. After it, a client is
 * disconnected that leaves too much unread.
 */
export const MAX_CATCH_UP_MS = 60_000;
/** Frames that are returned without a wait before other work runs. A long turn has a hundred thousand retained ones. */
const MAX_AT_ONCE = 100;

/** Reads the frames of one turn in order. */
export interface FrameReader {
  /** Waits for the next frame. Returns undefined after `ms` without one, or once the reader is closed. */
  next(ms: number): Promise<Frame | undefined>;
  /** Loads the frames that were sent before this reader was opened. */
  catchUp(): Promise<void>;
  /** Waits for the client of a stream if retained frames are being returned. Call it after each frame is written. */
  pace(stream: Pick<EventStream, "drainedBefore">): Promise<void>;
  close(): void;
}

/** Opens a reader. It subscribes at once, and fills gaps between live frames with retained ones. */
export function openFrameReader(frames: Frames, organization: string, turn: string): FrameReader {
  const order = createFrameOrder();
  const ready = createFrameQueue();
  let atOnce = 0;
  const waiter = createWaiter();
  let isFilling = false;
  const closed = new AbortController();
  let catchingUp: AbortSignal | undefined;

  const push = (more: Frame[]) => {
    for (const frame of more) ready.add(frame);
    if (more.length > 0) waiter.wake();
  };
  async function catchUp(): Promise<void> {
    const retained = await frames.loadFrames(organization, turn);
    // the newest attempt is enough: it repeats the text of earlier attempts
    for (const frame of newestAttempt(retained)) push(order.accept(frame));
    if (!ready.isEmpty()) catchingUp ??= AbortSignal.any([closed.signal, AbortSignal.timeout(MAX_CATCH_UP_MS)]);
  }
  async function fillGap(): Promise<void> {
    if (isFilling) return;
    isFilling = true;
    // missing frames may be retained a moment later; frames that the bus lost never are, and then the end frame suffices
    for (let wait = FIRST_WAIT_MS; order.hasGap() && !closed.signal.aborted; wait = Math.min(wait * 2, MAX_WAIT_MS)) {
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
    async pace(stream) {
      if (catchingUp) await stream.drainedBefore(catchingUp);
    },
    async next(ms) {
      if (ready.isEmpty()) catchingUp = undefined;
      const mustWait = ready.isEmpty() && !closed.signal.aborted;
      if (mustWait) await waiter.wait(ms);
      atOnce = mustWait ? 0 : atOnce + 1;
      if (atOnce % MAX_AT_ONCE === MAX_AT_ONCE - 1) await setImmediate();
      return ready.take();
    },
    close() {
      closed.abort();
      unsubscribe();
      waiter.wake();
    },
  };
}

function createWaiter() {
  let wake: (() => void) | undefined;
  return {
    /** Ends a wait. */
    wake: (): void => wake?.(),
    async wait(ms: number): Promise<void> {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      wake = undefined;
    },
  };
}

/** A queue that is also fast when it is long: `shift` moves all items of a long list. */
function createFrameQueue() {
  const frames: Frame[] = [];
  let taken = 0;
  return {
    add: (frame: Frame): void => void frames.push(frame),
    isEmpty: (): boolean => taken === frames.length,
    take(): Frame | undefined {
      const frame = frames[taken];
      if (!frame) return undefined;
      taken += 1;
      if (2 * taken >= frames.length) {
        frames.splice(0, taken);
        taken = 0;
      }
      return frame;
    },
  };
}
