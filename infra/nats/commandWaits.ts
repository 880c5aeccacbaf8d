/** Silence before the outcome of a command is first read from the log. */
const FIRST_POLL_MS = 1_500;
const POLL_MS = 1_000;
/** How long a command may be without a worker. What follows takes up to a second, and the client's 503 is due within 5 s. */
const UNTAKEN_MS = 3_400;
/** The minimum of that time: within it, a worker that has the command claims it, and a slow one takes it. */
const MIN_UNTAKEN_MS = 1_500;
/** Within this further time, JetStream redelivers a command whose worker has died, and the next worker claims it. */
const UNTIL_CLAIMED_MS = 900;
/** Time for a last look before the client gets its 503, which is due within 5 s. */
const LAST_LOOK_MS = 500;
/** How long a command waits while the log cannot be read, because then it cannot be written either. */
const LOG_AWAY_MS = 4_000;

/** Times in milliseconds after a command was sent. */
export interface CommandWaits {
  firstPoll: number;
  /** From this time on, the command is given up if no worker has it and none is about to get it. */
  untaken: number;
  /** From this time on, the command is given up if no worker has claimed it. */
  unclaimed: number;
  /** At this time an unclaimed command is given up even while PostgreSQL or JetStream does not answer. */
  due: number;
  /** From this time on, the command is given up while its outcome cannot be read. */
  logAway: number;
}

/** `waited_ms`: how long the client had waited when its command was made. If that was at most 2 s, it waits at most 5 s in total. */
export function commandWaits(waited_ms = 0): CommandWaits {
  const untaken = Math.max(MIN_UNTAKEN_MS, UNTAKEN_MS - waited_ms);
  return {
    firstPoll: Math.min(FIRST_POLL_MS, untaken),
    untaken,
    unclaimed: untaken + UNTIL_CLAIMED_MS,
    due: untaken + UNTIL_CLAIMED_MS + LAST_LOOK_MS,
    logAway: Math.max(MIN_UNTAKEN_MS, LOG_AWAY_MS - waited_ms),
  };
}

/** Milliseconds until the outcome is read again: a second, or less if one of the waits ends before. */
export function nextPoll({ untaken, unclaimed }: CommandWaits, waited_ms: number): number {
  const ahead = [untaken, unclaimed].map((end) => end - waited_ms).filter((left) => left > 0);
  return Math.min(POLL_MS, ...ahead);
}
