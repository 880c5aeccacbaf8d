/**
 * Computing time that all long pieces of work share in one round of the event loop. With a slice for each, a dozen of them would
 * delay everything else by their sum.
 */
const ROUND_MS = 5;
/** How long waiting pieces of work may be resumed one after the other in one round. A turn has dozens of pieces, and all else waits for each round. */
const SHARED_MS = 1;
/** Up to this many values are converted at once, as long as that takes less than SHORT_MS: short work does not wait behind long work. */
const FEW = 32;
const SHORT_MS = 2;

let isOpen = false;
let roundStart = 0;

/** Work that found its round used up. It continues in a later one. */
interface WaitingWork {
  /** How often the work has waited before. */
  waits: number;
  resume(): void;
}
const waiting: WaitingWork[] = [];

const isRoundOver = (after = ROUND_MS): boolean => performance.now() - roundStart >= after;
const closeRound = (): void => void (isOpen = false);
function openRound(): void {
  isOpen = true;
  roundStart = performance.now();
  setImmediate(closeRound);
}

let isOldestNext = false;

/**
 * In turns, the work that has waited least often, so that what is short never waits behind all that is long, and the work that has
 * waited longest, so that what is long goes on however much arrives.
 */
function takeNext(): WaitingWork {
  isOldestNext = !isOldestNext;
  let first = 0;
  if (isOldestNext) return waiting.shift()!;
  for (let n = 1; n < waiting.length; n++) if (waiting[n]!.waits < waiting[first]!.waits) first = n;
  return waiting.splice(first, 1)[0]!;
}

let isContinuing = false;

/**
 * Resumes pieces of work, one after the other while they are short: hundreds of streams compute a few microseconds each. What a
 * resumed piece computes at once counts: a tick that a microtask asks for comes after all microtasks.
 */
function continueWaiting(): void {
  isContinuing = waiting.length > 0;
  if (!isContinuing) return;
  if (isRoundOver(SHARED_MS)) return void setImmediate(continueInNewRound);
  takeNext().resume();
  queueMicrotask(() => process.nextTick(continueWaiting));
}

function continueInNewRound(): void {
  openRound();
  continueWaiting();
}

/** Pauses one piece of work, to be awaited between its parts: undefined while the round is not used up, which costs nothing. */
export type Pause = () => Promise<void> | undefined;

export function beginWork(): Pause {
  let waits = 0;
  return () => {
    if (!isOpen) openRound();
    if (!isRoundOver()) return undefined;
    return new Promise((resume) => {
      waiting.push({ waits: waits++, resume });
      if (!isContinuing) setImmediate(continueInNewRound);
      isContinuing = true;
    });
  };
}

/** Converts values one by one, and lets other callbacks run in between. */
export async function mapInSlices<T, R>(values: readonly T[], convert: (value: T) => R): Promise<R[]> {
  const converted: R[] = [];
  const pause = beginWork();
  const shortUntil = values.length <= FEW ? performance.now() + SHORT_MS : 0;
  for (const value of values) {
    if (performance.now() >= shortUntil) await pause();
    converted.push(convert(value));
  }
  return converted;
}
