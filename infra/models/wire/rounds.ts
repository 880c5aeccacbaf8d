import { setImmediate } from "node:timers/promises";

/**
 * In each round of the event loop, the streams of all providers together compute for so long. With a time of its own for each, a dozen
 * endless ones would delay everything else by their sum.
 */
const ROUND_MS = 5;

let roundStart = 0;
let nextRound: Promise<void> | undefined;

/** Whether the streams have used up the present round: then `while (isRoundOver()) await awaitRound()`, because another stream may use up the next one. */
export const isRoundOver = (): boolean => performance.now() - roundStart >= ROUND_MS;

/** Resolves once the event loop has done what else is due; for all streams that wait at the same moment. */
export function awaitRound(): Promise<void> {
  nextRound ??= setImmediate().then(() => {
    nextRound = undefined;
    roundStart = performance.now();
  });
  return nextRound;
}
