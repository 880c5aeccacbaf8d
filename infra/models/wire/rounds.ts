import { setImmediate as nextTurn } from "node:timers/promises";

/**
 * In each round of the event loop, the streams of all providers together compute for so long. With a time of its own for each, a dozen
 * endless ones would delay everything else by their sum.
 */
const ROUND_MS = 5;

let isOpen = false;
let roundStart = 0;
let nextRound: Promise<void> | undefined;

const closeRound = (): void => void (isOpen = false);

/**
 * Whether the streams have used up the present round; the first question of a round opens it. Then `while (isRoundOver()) await awaitRound()`,
 * because other streams may use up the next one.
 */
export function isRoundOver(): boolean {
  if (isOpen) return performance.now() - roundStart >= ROUND_MS;
  isOpen = true;
  roundStart = performance.now();
  setImmediate(closeRound);
  return false;
}

/** Resolves once the event loop has done what else is due; for all streams that wait at the same moment. */
export function awaitRound(): Promise<void> {
  nextRound ??= nextTurn().then(() => void (nextRound = undefined));
  return nextRound;
}
