import type { TurnHandle } from "../turns/turnHandle.ts";

/** Number of connections in this process that stream each turn. */
const readers = new Map<string, number>();

function add(turn_id: string, count: number): void {
  const left = (readers.get(turn_id) ?? 0) + count;
  if (left > 0) readers.set(turn_id, left);
  else readers.delete(turn_id);
}

/** Counts a connection that streams the turn. The returned function stops counting it, and may be called more than once. */
export function countReader({ turn_id }: Pick<TurnHandle, "turn_id">): () => void {
  let isReading = true;
  add(turn_id, 1);
  return () => {
    if (isReading) add(turn_id, -1);
    isReading = false;
  };
}

export const hasReader = ({ turn_id }: Pick<TurnHandle, "turn_id">): boolean => readers.has(turn_id);
