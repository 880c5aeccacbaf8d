/** The window of a rate: a sliding minute, counted in seconds. */
export const WINDOW_SECONDS = 60;
/** Maximum subjects and turns in memory. Beyond them, subjects without running turns and ended turns are forgotten. */
const MAX_SUBJECTS = 50_000;
const MAX_TURNS = 50_000;

/** No subject counts a turn to which no limit per minute or on concurrency applies. */
export const NO_SUBJECTS: string[] = [];

const secondOf = (ms: number): number => Math.floor(ms / 1000);

/** A sum over the last minute, stored per second. */
class SlidingSum {
  private seconds: { second: number; amount: number }[] = [];
  private sum = 0;

  add(ms: number, amount: number): void {
    const second = secondOf(ms);
    let n = this.seconds.length;
    while (n > 0 && this.seconds[n - 1]!.second > second) n -= 1;
    const known = this.seconds[n - 1];
    if (known?.second === second) known.amount += amount;
    else this.seconds.splice(n, 0, { second, amount });
    this.sum += amount;
  }
  total(now: number): number {
    const oldest = secondOf(now) - WINDOW_SECONDS;
    let gone = 0;
    for (; gone < this.seconds.length && this.seconds[gone]!.second <= oldest; gone++)
      this.sum -= this.seconds[gone]!.amount;
    if (gone > 0) this.seconds.splice(0, gone);
    return this.sum;
  }
  /** Milliseconds until `amount` of the sum (default: all) has left the window; 0 if there is nothing to wait for. */
  leavesIn(now: number, amount: number): number {
    if (amount >= this.sum) return this.allLeavesIn(now, amount);
    let left = amount;
    let leaves = 0;
    for (const { second, amount: gone } of this.seconds) {
      if (left <= 0) break;
      left -= gone;
      leaves = (second + WINDOW_SECONDS) * 1000 - now;
    }
    return Math.max(0, leaves);
  }
  /** Called for every turn, so it only looks at the last second. */
  private allLeavesIn(now: number, amount: number): number {
    const last = amount > 0 ? this.seconds.findLast((one) => one.amount !== 0) : undefined;
    return last ? Math.max(0, (last.second + WINDOW_SECONDS) * 1000 - now) : 0;
  }
}

interface SubjectCounts {
  requests: SlidingSum;
  tokens: SlidingSum;
  /** Number of running turns, and an estimate of their tokens. */
  open: number;
  streams: number;
  expected: number;
}

/** A turn that began; times are by this process's clock. */
export interface StartedTurn {
  turn_id: string;
  /** The subjects that count it. None: no limit per minute or on concurrency applied to it when it began. */
  subjects: string[];
  /** The subjects that count it once one of them gets such a limit. */
  unrated?: string[];
  /** Estimated tokens until it ends. */
  tokens: number;
  streamed: boolean;
  at: number;
  /** The newest known attempt. */
  attempt: number;
}
interface CountedTurn extends StartedTurn {
  /** 0 while it runs. */
  ended_at: number;
  /** Tokens used; undefined for a turn that runs, was withdrawn or waits. */
  took: number | undefined;
  /** Whether it waits for a person and may continue. */
  isParked: boolean;
}

/** The use of a subject. */
export interface RateUsage {
  requests_per_minute: number;
  tokens_per_minute: number;
  concurrent_turns: number;
  concurrent_streams: number;
}

export const NO_RATE_USAGE: RateUsage = {
  requests_per_minute: 0,
  tokens_per_minute: 0,
  concurrent_turns: 0,
  concurrent_streams: 0,
};

export const addRateUsage = (a: RateUsage, b: RateUsage): RateUsage => ({
  requests_per_minute: a.requests_per_minute + b.requests_per_minute,
  tokens_per_minute: a.tokens_per_minute + b.tokens_per_minute,
  concurrent_turns: a.concurrent_turns + b.concurrent_turns,
  concurrent_streams: a.concurrent_streams + b.concurrent_streams,
});

/**
 * Counts an organization's turns of the last minute. Each turn begins and ends once, and each of its attempts parks once, however
 * often and in whatever order the news arrives: from this process, from others, and from the read models after a start.
 */
export class TurnCounts {
  readonly #open = new Map<string, CountedTurn>();
  /** Roughly in the order in which they ended, because the first are forgotten first. */
  readonly #ended = new Map<string, CountedTurn>();
  /** Ids of the ended turns that were withdrawn. */
  readonly #withdrawn = new Set<string>();
  readonly #counts = new Map<string, SubjectCounts>();

  #countsOf(subject: string): SubjectCounts {
    const known = this.#counts.get(subject);
    if (known) return known;
    const created = { requests: new SlidingSum(), tokens: new SlidingSum(), open: 0, streams: 0, expected: 0 };
    this.#counts.set(subject, created);
    return created;
  }
  #countOpen({ subjects, streamed, tokens }: StartedTurn, sign: 1 | -1): void {
    for (const subject of subjects) {
      const count = this.#countsOf(subject);
      count.open += sign;
      count.streams += sign * Number(streamed);
      count.expected += sign * tokens;
    }
  }
  #enter({ turn_id, subjects, unrated = NO_SUBJECTS, tokens, streamed, at, attempt }: StartedTurn): void {
    const open = { ended_at: 0, took: undefined, isParked: false };
    const turn = { turn_id, subjects, unrated, tokens, streamed, at, attempt, ...open };
    this.#open.set(turn_id, turn);
    this.#countOpen(turn, 1);
  }
  /** Changes the turn in place: thousands may have ended within a minute, and a second object for each is costly to collect. */
  #close(turn_id: string, { ended_at, took, isParked }: Omit<CountedTurn, keyof StartedTurn>): StartedTurn | undefined {
    const turn = this.#open.get(turn_id);
    if (!turn) return undefined;
    this.#open.delete(turn_id);
    turn.ended_at = ended_at;
    turn.took = took;
    turn.isParked = isParked;
    // nothing is to be remembered of a turn that nothing counts
    if (turn.subjects.length > 0) this.#ended.set(turn_id, turn);
    this.#countOpen(turn, -1);
    return turn;
  }

  /** A turn that nothing counts begins to be counted when it is read from the read models, for a limit that was set since. */
  begin(turn: StartedTurn): void {
    const open = this.#open.get(turn.turn_id);
    if ((open && open.subjects.length > 0) || this.#ended.has(turn.turn_id)) return;
    for (const subject of turn.subjects) this.#countsOf(subject).requests.add(turn.at, 1);
    this.#enter(turn);
  }
  /** Counts the running turns that began without a limit per minute or on concurrency, because one was set since. */
  countUnrated(): void {
    for (const turn of this.#open.values())
      if (turn.subjects.length === 0) this.begin({ ...turn, subjects: turn.unrated ?? NO_SUBJECTS });
  }
  /** This attempt has ended because the turn waits for a person. */
  park(turn_id: string, attempt: number, at: number): void {
    const turn = this.#open.get(turn_id);
    if (!turn || turn.attempt > attempt) return;
    turn.attempt = attempt;
    this.#close(turn_id, { ended_at: at, took: undefined, isParked: true });
  }
  /** The turn continues after waiting: it is running again, but is not a new request. */
  resume(turn: StartedTurn): void {
    const open = this.#open.get(turn.turn_id);
    if (open) open.attempt = Math.max(open.attempt, turn.attempt);
    const ended = this.#ended.get(turn.turn_id);
    if (open || (ended && !(ended.isParked && ended.attempt < turn.attempt))) return;
    this.#ended.delete(turn.turn_id);
    this.#enter(turn);
  }
  /** `tokens`: those it used. */
  end(turn_id: string, tokens: number, at: number): void {
    const ended = this.#ended.get(turn_id);
    if (ended?.isParked) this.resume({ ...ended, attempt: ended.attempt + 1 });
    const turn = this.#close(turn_id, { ended_at: at, took: tokens, isParked: false });
    for (const subject of turn?.subjects ?? []) this.#countsOf(subject).tokens.add(at, tokens);
  }
  /** The turn was refused before it began, and is not counted. */
  withdraw(turn_id: string, at: number): void {
    const turn = this.#close(turn_id, { ended_at: at, took: undefined, isParked: false });
    if (!turn || turn.subjects.length === 0) return;
    this.#withdrawn.add(turn_id);
    for (const subject of turn.subjects) this.#countsOf(subject).requests.add(turn.at, -1);
  }

  /** A withdrawn turn may begin. */
  readmit(turn_id: string): void {
    if (this.#withdrawn.delete(turn_id)) this.#ended.delete(turn_id);
  }

  used(subject: string, name: keyof RateUsage, now: number): number {
    const count = this.#counts.get(subject);
    if (!count) return 0;
    if (name === "requests_per_minute") return count.requests.total(now);
    if (name === "tokens_per_minute") return count.tokens.total(now) + count.expected;
    return name === "concurrent_turns" ? count.open : count.streams;
  }
  /** Milliseconds until `amount` has left the window; 0 for running turns, whose end is unknown. */
  freeIn(subject: string, name: keyof RateUsage, amount: number, now: number): number {
    const count = this.#counts.get(subject);
    if (!count || name.startsWith("concurrent")) return 0;
    return (name === "requests_per_minute" ? count.requests : count.tokens).leavesIn(now, amount);
  }
  subjects(): Iterable<string> {
    return this.#counts.keys();
  }
  /** Whether a turn is running. */
  hasOpen(): boolean {
    return this.#open.size > 0;
  }
  /** Running turns that began before a moment. */
  openBefore(ms: number): string[] {
    return [...this.#open.values()].filter(({ at }) => at < ms).map(({ turn_id }) => turn_id);
  }
  /** Running turns that began after a moment. */
  openSince(ms: number): StartedTurn[] {
    return [...this.#open.values()].filter(({ at }) => at > ms);
  }
  /** Turns that ended after a moment, and their tokens. */
  endedSince(ms: number): (StartedTurn & { took: number })[] {
    return [...this.#ended.values()].filter(
      (turn): turn is CountedTurn & { took: number } => turn.took !== undefined && turn.ended_at > ms,
    );
  }

  /** Forgets what is no longer counted. */
  prune(now: number): void {
    const cutoff = now - WINDOW_SECONDS * 1000;
    for (const [turn_id, { ended_at }] of this.#ended) {
      if (ended_at >= cutoff && this.#open.size + this.#ended.size <= MAX_TURNS) break;
      this.#ended.delete(turn_id);
      this.#withdrawn.delete(turn_id);
    }
    const isFull = this.#counts.size > MAX_SUBJECTS;
    for (const [subject, { requests, tokens, open }] of this.#counts)
      if (open === 0 && (isFull || (requests.total(now) === 0 && tokens.total(now) === 0)))
        this.#counts.delete(subject);
  }
}
