import { createCounter } from "../base/counter.ts";
import type { TurnHandle } from "../turns/turnHandle.ts";

/** Number of connections in this process that stream each turn. */
const readers = createCounter();

/** Counts a connection that streams the turn. The returned function stops counting it, and may be called more than once. */
export function countReader({ turn_id }: Pick<TurnHandle, "turn_id">): () => void {
  let isReading = true;
  readers.add(turn_id, 1);
  return () => {
    if (isReading) readers.add(turn_id, -1);
    isReading = false;
  };
}

export const hasReader = ({ turn_id }: Pick<TurnHandle, "turn_id">): boolean => readers.count(turn_id) > 0;
