import type { Frame, Frames } from "#events/ports.ts";
import { createOrder } from "./order.ts";

const LOOK_AGAIN_MS = 200;
/** What the bus has dropped does not come back; only the end helps then. */
const LOOK_SELDOM_MS = 5_000;

/** The frames of one turn in order, to be taken one by one. */
export interface Feed {
  /** The next frame; undefined after `ms` without one, or once closed. */
  next(ms: number): Promise<Frame | undefined>;
  /** Fetches what was said before this feed was opened. */
  catchUp(): Promise<void>;
  close(): void;
}

/** Subscribes at once; a gap in the live frames is filled from the kept ones. */
export function openFeed(frames: Frames, organization: string, turn: string): Feed {
  const order = createOrder();
  const ready: Frame[] = [];
  let wake: (() => void) | undefined;
  let filling = false;
  let closed = false;

  const push = (more: Frame[]) => {
    if (more.length === 0) return;
    ready.push(...more);
    wake?.();
  };
  async function catchUp(): Promise<void> {
    for (const frame of await frames.kept(organization, turn)) push(order.accept(frame));
  }
  async function fill(): Promise<void> {
    if (filling) return;
    filling = true;
    // the frames before a held one are on their way into the store
    for (let wait = LOOK_AGAIN_MS; order.hasGap() && !closed; wait = Math.min(wait * 2, LOOK_SELDOM_MS)) {
      await catchUp().catch(() => {});
      const end = order.heldEnd();
      if (end) push([end]);
      if (end || !order.hasGap()) break;
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
    filling = false;
  }
  const unsubscribe = frames.subscribe(organization, turn, (frame) => {
    push(order.accept(frame));
    if (order.hasGap()) void fill();
  });

  return {
    catchUp,
    async next(ms) {
      if (ready.length === 0 && !closed)
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
      closed = true;
      unsubscribe();
      wake?.();
    },
  };
}
