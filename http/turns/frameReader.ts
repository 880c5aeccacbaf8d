import { setImmediate } from "node:timers/promises";
import { newestAttempt } from "#events/newestAttempt.ts";
import type { Frame, Frames } from "#events/ports.ts";
import { MIB } from "#events/units.ts";
import { createCounter } from "../base/counter.ts";
import type { EventStream } from "../base/sse.ts";
import { createFrameOrder } from "./frameOrder.ts";

/** Wait between two loads of missing frames. It doubles up to the maximum. */
const FIRST_WAIT_MS = 200;
const MAX_WAIT_MS = 5_000;
/**
 * Retained frames come all at once, so their writer waits for its client, but no longer than this. Afterwards a client that
 * leaves too much unread is disconnected.
 */
export const MAX_CATCH_UP_MS = 60_000;
/** Beyond this size of an organization's frames in memory, its clients are not waited for. A turn has 8 MB and more. */
const MAX_HELD = 64 * MIB;
/** What an object takes in memory beside its text. */
const FRAME_OVERHEAD = 200;
/** Frames that are returned without a wait before other work runs. A long turn has a hundred thousand retained ones. */
const MAX_AT_ONCE = 100;

/** Bytes of the queued frames of each organization, which grow while clients read slowly. */
const held = createCounter();
const sizeOf = (frame: Frame): number =>
  FRAME_OVERHEAD + (frame.type === "text" || frame.type === "reasoning" ? frame.text.length : 0);

/** Where a frame stands among the frames of its turn. */
export type FramePlace = Pick<Frame, "attempt" | "n">;

/** Before all frames. */
const NOWHERE: FramePlace = { attempt: 0, n: -1 };

/** Reads the frames of one turn in order. */
export interface FrameReader {
  /** Waits for the next frame. Returns undefined after `ms` without one, or once the reader is closed. */
  next(ms: number): Promise<Frame | undefined>;
  /** Loads the frames that were sent before this reader was opened. Returns the place of the newest one that is retained. */
  catchUp(): Promise<FramePlace>;
  /** Waits for the client of a stream if retained frames are being returned. Call it after each frame is written. */
  pace(stream: Pick<EventStream, "drainedBefore">): Promise<void>;
  close(): void;
}

/** Opens a reader. It subscribes at once, and fills gaps between live frames with retained ones. */
export function openFrameReader(frames: Frames, organization: string, turn: string): FrameReader {
  const order = createFrameOrder();
  const ready = createFrameQueue(organization);
  let atOnce = 0;
  const waiter = createWaiter();
  let [isFilling, isClosed] = [false, false];
  const patience = createPatience();

  const push = (more: Frame[]) => {
    for (const frame of isClosed ? [] : more) ready.add(frame);
    if (more.length > 0) waiter.wake();
  };
  async function catchUp(): Promise<FramePlace> {
    // the newest attempt is enough: it repeats the text of earlier attempts
    const retained = newestAttempt(await frames.loadFrames(organization, turn));
    for (const frame of retained) push(order.accept(frame));
    if (!ready.isEmpty()) patience.begin();
    return retained.at(-1) ?? NOWHERE;
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
    async pace(stream) {
      const until = patience.signal();
      if (until && held.count(organization) <= MAX_HELD) await stream.drainedBefore(until);
    },
    async next(ms) {
      if (ready.isEmpty()) patience.end();
      const mustWait = ready.isEmpty() && !isClosed;
      if (mustWait) await waiter.wait(ms);
      atOnce = mustWait ? 0 : atOnce + 1;
      if (atOnce % MAX_AT_ONCE === MAX_AT_ONCE - 1) await setImmediate();
      return ready.take();
    },
    close() {
      isClosed = true;
      patience.close();
      unsubscribe();
      ready.clear();
      waiter.wake();
    },
  };
}

/** How long a writer waits for its client. The aborter is made only if it may wait, because it took a hundredth of a streamed turn. */
function createPatience() {
  let aborter: AbortController | undefined;
  let timer: NodeJS.Timeout | undefined;
  let hasBegun = false;
  return {
    begin(): void {
      if (hasBegun) return;
      hasBegun = true;
      const limit = new AbortController();
      clearTimeout(timer);
      timer = setTimeout(() => limit.abort(), MAX_CATCH_UP_MS).unref();
      aborter = limit;
    },
    end: (): void => void (hasBegun = false),
    /** Undefined while nobody waits. */
    signal: (): AbortSignal | undefined => (hasBegun ? aborter?.signal : undefined),
    /** Ends a wait in progress. */
    close(): void {
      clearTimeout(timer);
      aborter?.abort();
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
function createFrameQueue(organization: string) {
  const frames: Frame[] = [];
  let taken = 0;
  return {
    add(frame: Frame): void {
      frames.push(frame);
      held.add(organization, sizeOf(frame));
    },
    isEmpty: (): boolean => taken === frames.length,
    take(): Frame | undefined {
      const frame = frames[taken];
      if (!frame) return undefined;
      held.add(organization, -sizeOf(frame));
      taken += 1;
      if (2 * taken >= frames.length) {
        frames.splice(0, taken);
        taken = 0;
      }
      return frame;
    },
    clear(): void {
      for (const frame of frames.splice(taken)) held.add(organization, -sizeOf(frame));
    },
  };
}
