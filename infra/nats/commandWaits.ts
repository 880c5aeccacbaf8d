/** Silence before the outcome of a command is first read from the log. */
const FIRST_POLL_MS = 1_500;
const POLL_MS = 1_000;
/** How long a command may be without a worker. What follows takes up to a second, and the client's 503 is due within 5 s. */
const UNTAKEN_MS = 3_400;
/** A worker that works on a command has said so by now, and one that was only slow to take it has had the time. */
const MIN_UNTAKEN_MS = 1_500;
/** JetStream has delivered it again by then if the worker that had it died at once, and the next one would have said so. */
const UNTIL_CLAIMED_MS = 900;
/** How long a command waits while the log is away: then it cannot be written either. */
const LOG_AWAY_MS = 4_000;

/** Milliseconds after a command was sent. */
export interface CommandWaits {
  firstPoll: number;
  /** It is given up from now on if no worker seems to have it, or to be about to get it. */
  untaken: number;
  /** It is given up from now on if no worker has said that it has it. */
  unclaimed: number;
  /** It is given up from now on while its outcome cannot be read. */
  logAway: number;
}

/** How long a command waits whose client had waited already when it was made: both together last at most 5 s, if the client waited at most 2. */
export function commandWaits(waited_ms = 0): CommandWaits {
  const untaken = Math.max(MIN_UNTAKEN_MS, UNTAKEN_MS - waited_ms);
  return {
    firstPoll: Math.min(FIRST_POLL_MS, untaken),
    untaken,
    unclaimed: untaken + UNTIL_CLAIMED_MS,
    logAway: Math.max(MIN_UNTAKEN_MS, LOG_AWAY_MS - waited_ms),
  };
}

/** Milliseconds until the outcome is read again: a second, or less where one of the waits ends before. */
export function nextPoll({ untaken, unclaimed }: CommandWaits, waited_ms: number): number {
  const ahead = [untaken, unclaimed].map((end) => end - waited_ms).filter((left) => left > 0);
  return Math.min(POLL_MS, ...ahead);
}
