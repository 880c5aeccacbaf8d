import type { Frame } from "#events/ports.ts";

/**
 * Puts numbered frames in order: each once, an older attempt's never, an early one held until those before it are there.
 * A newer attempt begins again at 0.
 */
export interface Order {
  /** The frames that are ready now, in order. */
  accept(frame: Frame): Frame[];
  /** Frames are held because earlier ones are missing. */
  hasGap(): boolean;
  /** The last frame, when it is among those held: it says the whole outcome. */
  heldEnd(): Frame | undefined;
}

export function createOrder(): Order {
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
