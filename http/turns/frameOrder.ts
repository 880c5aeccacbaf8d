import type { Frame } from "#events/ports.ts";

/**
 * Orders the numbered frames of a turn. Passes each frame on once, holds early frames until the gap before them is filled, and
 * drops frames of older attempts. The numbers of each attempt start at 0.
 */
export interface FrameOrder {
  /** Adds a frame and returns the frames that are ready now, in order. */
  accept(frame: Frame): Frame[];
  /** Whether frames are held because earlier ones are missing. */
  hasGap(): boolean;
  /** The held end frame, if any. It contains the whole outcome, so a reader that has it needs no earlier frames. */
  heldEnd(): Frame | undefined;
}

export function createFrameOrder(): FrameOrder {
  let attempt = 0;
  let next = 0;
  const held = new Map<number, Frame>();

  return {
    accept(frame) {
      if (frame.attempt < attempt) return [];
      if (frame.attempt > attempt) {
        attempt = frame.attempt;
        next = 0;
        held.clear();
      }
      if (frame.n < next) return [];
      if (frame.n === next && held.size === 0) {
        next += 1;
        return [frame];
      }
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
