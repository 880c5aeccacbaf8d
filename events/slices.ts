/**
 * Computing time per round of the event loop, shared by all long pieces of work. With a slice of its own for each piece, a dozen
 * pieces would delay everything else by their sum. A turn waits for dozens of rounds: with 5 ms, one beside long lists took a third longer.
 */
const ROUND_MS = 2;
/**
 * Milliseconds per round for resuming the pieces of work that wait. A turn has dozens of pieces, and everything else in the process
 * waits during a round.
 */
const SHARED_MS = 1;
/** Up to this many values are converted in one piece, as long as that takes less than SHORT_MS: short work must not wait behind long work. */
const FEW = 32;
const SHORT_MS = 2;

let isOpen = false;
let roundStart = 0;

/** Work that has used up its round and continues in a later one. */
interface WaitingWork {
  /** How many rounds the work has waited before. */
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
 * Alternates between two choices: the work that has waited least often, so that short work does not queue behind long work, and the
 * work that has waited longest, so that long work is never starved.
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
 * Resumes waiting pieces of work, one after the other while they are short, because hundreds of streams compute only a few
 * microseconds each. Time is checked in a macrotask, after all microtasks, so that what a resumed piece computes at once counts.
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

/** Await it between the parts of one piece of work. Returns undefined, at no cost, while the round is not used up. */
export type Pause = () => Promise<void> | undefined;

export function createPause(): Pause {
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
  const pause = createPause();
  const shortUntil = values.length <= FEW ? performance.now() + SHORT_MS : 0;
  for (const value of values) {
    if (performance.now() >= shortUntil) await pause();
    converted.push(convert(value));
  }
  return converted;
}
