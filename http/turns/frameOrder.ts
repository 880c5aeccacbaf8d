import type { Frame } from "#events/ports.ts";

/**
 * Orders numbered frames: passes each on once, holds early ones until the gap before them is filled, and drops those of older
 * attempts. A newer attempt starts at 0 again.
 */
export interface FrameOrder {
  /** Returns the frames that are ready now, in order. */
  accept(frame: Frame): Frame[];
  /** Frames are held because earlier ones are missing. */
  hasGap(): boolean;
  /** The end frame, if it is held: it carries the whole outcome. */
  heldEnd(): Frame | undefined;
}

export function createOrder(): FrameOrder {
  let attempt = 0;
  let next = 0;
  let held = new Map<number, Frame>();

  return {
    accept(frame) {
      if (frame.attempt < attempt) return [];
      if (frame.attempt > attempt) {
        attempt = frame.attempt;
        next = 0;
        held = new Map();
      }
      if (frame.n < next) return [];
      held.set(frame.n, frame);
      const ready: Frame[] = [];
      for (let found = held.get(next); found; found = held.get(next)) {
        held.delete(next++);
        ready.push(found);
      }
      return ready;
    },
    hasGap: () => held.size > 0,
    heldEnd: () => [...held.values()].find(({ type }) => type === "end"),
  };
}
