/**
 * In each round of the event loop, all long pieces of work together compute for so long. With a slice for each, a dozen of them
 * would delay everything else by their sum.
 */
const ROUND_MS = 5;
/** Values that are converted at once, in 2 ms: nothing short waits behind long work. */
const FEW = 32;

let isOpen = false;
let roundStart = 0;
/** Work that has used up its round, in order: each continues in a round of its own. */
const waiting: (() => void)[] = [];

const closeRound = (): void => void (isOpen = false);
function openRound(): void {
  isOpen = true;
  roundStart = performance.now();
  setImmediate(closeRound);
}

function continueNext(): void {
  openRound();
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(continueNext);
}

/** For long work, to be awaited between its parts: undefined while the round is not used up, which costs nothing. */
export function pauseWork(): Promise<void> | undefined {
  if (!isOpen && waiting.length === 0) openRound();
  if (isOpen && performance.now() - roundStart < ROUND_MS) return undefined;
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(continueNext);
  });
}

/** Converts values one by one, and lets other callbacks run in between. */
export async function mapInSlices<T, R>(values: readonly T[], convert: (value: T) => R): Promise<R[]> {
  if (values.length <= FEW) return values.map(convert);
  const converted: R[] = [];
  for (const value of values) {
    const pause = pauseWork();
    if (pause) await pause;
    converted.push(convert(value));
  }
  return converted;
}
