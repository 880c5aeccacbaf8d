import type { Frame } from "./ports.ts";

/**
 * Returns the frames of the newest attempt that sent any: a lost attempt may have sent words that a reader must not get. Uses
 * `reduce`, because Math.max(...) takes fewer arguments than a long turn has frames.
 */
export function newestAttempt<F extends Pick<Frame, "attempt">>(frames: readonly F[]): F[] {
  const newest = frames.reduce((most, { attempt }) => Math.max(most, attempt), 0);
  return frames.filter(({ attempt }) => attempt === newest);
}
