import type { Frame } from "./ports.ts";

/**
 * The frames of the newest attempt that sent any: a lost attempt may have left words that a reader must not get. A turn of many words
 * has more frames than a call takes arguments.
 */
export function newestAttempt<F extends Pick<Frame, "attempt">>(frames: readonly F[]): F[] {
  const newest = frames.reduce((most, { attempt }) => Math.max(most, attempt), 0);
  return frames.filter(({ attempt }) => attempt === newest);
}
