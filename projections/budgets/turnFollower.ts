import { setTimeout as sleep } from "node:timers/promises";
import { currentTime } from "#events/clock.ts";
import type { TurnNews, TurnNewsExchange } from "#events/turnNews.ts";
import type { Db } from "../projection.ts";
import type { RateStatus, ProcessShare } from "./rates.ts";
import type { MoneyLimit } from "./moneyLimits.ts";
import { listNewsForPeer } from "./newsForPeer.ts";
import { NewLimitDetector } from "./newLimitDetector.ts";
import { findTurns, listRecentTurns, type TurnState } from "./recentTurns.ts";
import { subjectsOf } from "./subjects.ts";
import { Reservations } from "./reservations.ts";
import { addRateUsage, NO_RATE_USAGE, TurnCounts, WINDOW_SECONDS, type RateUsage } from "./turnCounts.ts";

/** Interval at which unfinished turns are looked up and the other processes are asked. */
const MAINTENANCE_MS = 2_000;
/** Timeout for answers. A process that does not answer is gone, or too busy to start turns. */
const MAX_ANSWER_MS = 1_000;
/** Unfinished turns older than this are looked up, because this process may have missed their end. */
const LOOK_UP_AFTER_MS = 3_000;
/** The read models are at most this far behind the log. */
const READ_MODEL_LAG_MS = 2_000;
/** A process that is silent for this long starts no turns. */
const SILENT_MS = 5_000;
/** A turn that is not recorded after this time never began. */
const UNRECORDED_MS = 30_000;
/** How long the first turn waits for the other processes' reports, so that two processes do not both admit the whole limit. */
const FIRST_REPORTS_MS = 100;
/** How long a turn waits for the read models. */
const MAX_READ_MS = 2_000;
/**
 * An organization without turns for this time is forgotten, and read again with its next turn. Not while a turn runs: the read model
 * has its first reservation only, and its process announces its end to this follower.
 */
const IDLE_MS = 2 * WINDOW_SECONDS * 1_000;

export interface FollowerOptions {
  db: Db;
  exchange: TurnNewsExchange;
  /** Name of this process. */
  process: string;
  onError(error: unknown): void;
}
interface FollowedOrganization {
  organization: string;
  /** Called once, after the follower has closed. The organization's next turn opens a new one. */
  onIdle(): void;
}

/** One organization's turns as this process knows them: first from the read models, then from all processes. */
export class TurnFollower {
  readonly counts = new TurnCounts();
  readonly reservations = new Reservations();
  /** Resolves once the turns of the last minute are read. */
  readonly ready: Promise<void>;
  readonly #options: FollowerOptions;
  readonly #organization: string;
  readonly newLimits = new NewLimitDetector(() => this.#readInTime(this.#read()));
  readonly #onIdle: () => void;
  /** Other processes that start turns, and when each sent its last message. */
  readonly #lastMessageAt = new Map<string, number>();
  /** Silent processes, and when this one dropped them: from then on they may have missed messages. */
  readonly #silentSince = new Map<string, number>();
  /** By subject: what this process has admitted since all others last answered. */
  #admitted = new Map<string, RateUsage>();
  /** By subject: picodollars reserved since then. */
  #reserved = new Map<string, bigint>();
  /** Number of the last `ask`; answers to earlier ones are ignored. */
  #questions = 0;
  /** Processes that have not answered yet, and what to do when all have. */
  #unanswered = new Set<string>();
  #onAnswers = (): void => {};
  #renewal: Promise<void> | undefined;
  #usedAt = currentTime();
  readonly #timer: NodeJS.Timeout;
  readonly #unsubscribe: () => void;

  constructor(options: FollowerOptions, { organization, onIdle }: FollowedOrganization) {
    this.#options = options;
    this.#organization = organization;
    this.#onIdle = onIdle;
    this.#unsubscribe = options.exchange.subscribe(organization, (news) => this.#receive(news, currentTime()));
    this.#timer = setInterval(() => this.#maintain(currentTime()), MAINTENANCE_MS).unref();
    this.#send({ kind: "hello" });
    const known = Promise.all([this.#read(), sleep(FIRST_REPORTS_MS, undefined, { ref: false })]);
    this.ready = this.#readInTime(known);
  }

  /** Applies a turn's news here at once, and in other processes within milliseconds. A withdrawn turn may begin again. */
  announce(news: TurnNews): void {
    if (news.kind === "began") for (const one of [this.counts, this.reservations]) one.readmit(news.turn_id);
    this.#apply(news, currentTime());
    if (this.#lastMessageAt.size > 0) this.#send(news);
  }
  #send(news: TurnNews): void {
    this.#options.exchange.publish(this.#organization, { ...news, process: this.#options.process });
  }

  /** Applies a message from another process. */
  #receive(news: TurnNews & { process: string }, now: number): void {
    const { process } = news;
    const isNew = !this.#lastMessageAt.has(process);
    this.#lastMessageAt.set(process, now);
    if (isNew || news.kind === "hello") this.#sendKnownTurns(process, now);
    this.#apply(news, now);
    if (news.kind === "answer") this.#receiveAnswer(news);
    else if (news.kind === "ask") this.#send({ kind: "answer", to: process, n: news.n });
  }
  #apply(news: TurnNews, now: number): void {
    if (news.kind === "began") this.#begin(news, now);
    else if (news.kind === "grew") this.#grow(news, now);
    else if (news.kind === "parked") this.#park(news, now);
    else if (news.kind === "resumed") this.counts.resume({ ...news, tokens: 0, at: now });
    else if (news.kind === "ended") {
      this.counts.end(news.turn_id, news.tokens, now);
      this.reservations.end(news.turn_id, { cost: BigInt(news.cost ?? 0), position: news.position, at: now });
    } else if (news.kind === "withdrawn") {
      this.counts.withdraw(news.turn_id, now);
      this.reservations.forget(news.turn_id, now);
    }
  }
  #begin(news: Extract<TurnNews, { kind: "began" }>, at: number): void {
    const { turn_id, subjects, tokens, streamed = false, reserved } = news;
    this.counts.begin({ turn_id, subjects, tokens, streamed, at, attempt: 1 });
    if (reserved !== undefined) this.reservations.begin(turn_id, { subjects, reserved: BigInt(reserved), at });
  }
  #grow(news: Omit<Extract<TurnNews, { kind: "grew" }>, "kind">, at: number): void {
    const { turn_id, subjects, attempt = 1 } = news;
    const reserved = BigInt(news.reserved);
    this.reservations.begin(turn_id, { subjects, reserved, at });
    this.reservations.grow(turn_id, { attempt, reserved, spent: BigInt(news.spent) });
  }
  #park(news: Extract<TurnNews, { kind: "parked" }>, at: number): void {
    const { turn_id, subjects, attempt, spent } = news;
    this.counts.park(turn_id, attempt, at);
    if (spent !== undefined) this.#grow({ turn_id, subjects, attempt: attempt + 1, reserved: "0", spent }, at);
  }
  #sendKnownTurns(process: string, now: number): void {
    const silentSince = this.#silentSince.get(process);
    this.#silentSince.delete(process);
    this.#send({ kind: "answer", to: process, n: 0 });
    const since = { begun: silentSince ?? now - SILENT_MS, ended: silentSince ?? now - READ_MODEL_LAG_MS };
    for (const news of listNewsForPeer(this.counts, this.reservations, since)) this.#send(news);
  }

  /** Limits how long turns wait for a reading. Afterwards only the processes' news decides. */
  #readInTime(reading: Promise<unknown>): Promise<void> {
    const read = reading.then(() => {}, this.#options.onError);
    return Promise.race([read, sleep(MAX_READ_MS, undefined, { ref: false })]);
  }
  async #read(): Promise<void> {
    const { db } = this.#options;
    const since = new Date(currentTime() - WINDOW_SECONDS * 1000);
    for (const turn of await listRecentTurns(db, this.#organization, since)) {
      const { turn_id, attempt, streamed, expected } = turn;
      const begun = { turn_id, subjects: subjectsOf(turn), tokens: expected, streamed, attempt };
      this.counts.begin({ ...begun, at: turn.started_at.getTime() });
      this.#applyState(turn);
    }
  }
  /** Applies a turn as found in a read model. `now`: when its end or pause counts; undefined: when it happened. */
  #applyState({ turn_id, attempt, ended_at, parked_at, tokens }: TurnState, now?: number): void {
    if (ended_at) this.counts.end(turn_id, tokens, now ?? ended_at.getTime());
    else if (parked_at) this.counts.park(turn_id, attempt, now ?? parked_at.getTime());
  }

  #maintain(now: number): void {
    if (now - this.#usedAt > IDLE_MS && !this.counts.hasOpen()) {
      this.close();
      this.#onIdle();
      return;
    }
    this.counts.prune(now);
    this.#dropSilent(now);
    void this.renew();
    this.#endUnannounced(now).catch(this.#options.onError);
  }
  #dropSilent(now: number): void {
    for (const [name, at] of this.#lastMessageAt)
      if (now - at > SILENT_MS) {
        this.#lastMessageAt.delete(name);
        this.#silentSince.set(name, now);
      }
    for (const [name, at] of this.#silentSince) if (now - at > WINDOW_SECONDS * 1000) this.#silentSince.delete(name);
  }
  /** Ends turns whose end no process has announced: their client disconnected, or their process died. */
  async #endUnannounced(now: number): Promise<void> {
    const open = this.counts.openBefore(now - LOOK_UP_AFTER_MS);
    if (open.length === 0) return;
    const found = await findTurns(this.#options.db, this.#organization, open);
    for (const turn of found) this.#applyState(turn, now);
    const recorded = new Set(found.map(({ turn_id }) => turn_id));
    for (const turn_id of this.counts.openBefore(now - UNRECORDED_MS))
      if (!recorded.has(turn_id)) this.counts.end(turn_id, 0, now);
  }

  /** Resolves with a new share once every other process has reported the turns it has started. */
  renew(): Promise<void> {
    this.#renewal ??= this.#collectAnswers().finally(() => (this.#renewal = undefined));
    return this.#renewal;
  }
  async #collectAnswers(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#questions += 1;
    this.#unanswered = new Set(this.#lastMessageAt.keys());
    // runs in the same tick as the last answer, because a turn admitted after it counts towards the new share
    this.#onAnswers = () => {
      this.#admitted = new Map();
      this.#reserved = new Map();
      resolve();
    };
    this.#send({ kind: "ask", n: this.#questions });
    const timer = setTimeout(this.#onAnswers, this.#unanswered.size === 0 ? 0 : MAX_ANSWER_MS);
    await promise;
    clearTimeout(timer);
  }
  #receiveAnswer({ process, to, n }: { process: string; to: string; n: number }): void {
    if (to !== this.#options.process || n !== this.#questions || !this.#unanswered.delete(process)) return;
    if (this.#unanswered.size === 0) this.#onAnswers();
  }

  /** What this process may still admit. */
  share(now: number): ProcessShare {
    this.#usedAt = now;
    const [admitted, reserved] = [this.#admitted, this.#reserved];
    return {
      processes: this.#lastMessageAt.size + 1,
      admitted: (counted) => admitted.get(counted) ?? NO_RATE_USAGE,
      reserved: (counted) => reserved.get(counted) ?? 0n,
    };
  }
  /** Counts the maximum cost of a turn against this process's share of the budgets. Without other processes, its share is everything. */
  reserve(limits: MoneyLimit[], cost: bigint): void {
    if (this.#lastMessageAt.size === 0) return;
    for (const counted of new Set(limits.map((limit) => limit.counted)))
      this.#reserved.set(counted, (this.#reserved.get(counted) ?? 0n) + cost);
  }
  /** Counts a turn against this process's share of the limits. */
  countAdmitted(rates: RateStatus[], added: RateUsage): void {
    if (this.#lastMessageAt.size === 0) return;
    for (const counted of new Set(rates.map((rate) => rate.counted))) {
      const before = this.#admitted.get(counted) ?? NO_RATE_USAGE;
      this.#admitted.set(counted, addRateUsage(before, added));
    }
  }

  close(): void {
    clearInterval(this.#timer);
    this.#unsubscribe();
  }
}
