import { setTimeout as sleep } from "node:timers/promises";
import type { TurnNews, TurnNewsExchange } from "#events/turnNews.ts";
import type { Db } from "../projection.ts";
import { addedBy, type RateStatus, type Share } from "./rates.ts";
import { findTurns, listRecentTurns } from "./recentTurns.ts";
import { subjectsOf } from "./status.ts";
import { TurnCounts, WINDOW_SECONDS, type Rates } from "./turnCounts.ts";

/** Within this time the other processes hear of a turn. A process that is not alone gives out its share of a limit in each. */
export const SHARE_MS = 50;
/** How often open turns are looked up, and other processes told that this one starts turns. */
const TEND_MS = 2_000;
/** Turns that are older and still open may have ended without this process hearing of it. */
const LOOK_UP_AFTER_MS = 3_000;
/** A process that says nothing for so long starts no turns. */
const SILENT_MS = 5_000;
/** A turn that is not recorded by then never began. */
const UNRECORDED_MS = 30_000;
/** How long a turn waits for them; then what the processes tell each other decides. */
const MAX_READ_MS = 2_000;
/** An organization without turns for so long is forgotten, and read again. */
const IDLE_MS = 2 * WINDOW_SECONDS * 1_000;

export interface FollowerOptions {
  db: Db;
  exchange: TurnNewsExchange;
  /** Name of this process. */
  process: string;
  onError(error: unknown): void;
}
interface Followed {
  organization: string;
  /** Called once, after it has closed: it is read again when a turn needs it. */
  onIdle(): void;
}

/** The turns of one organization, as this process knows them: from the read models at first, then from all processes. */
export class TurnFollower {
  readonly counts = new TurnCounts();
  /** Resolves once the turns of the last minute are read. */
  readonly ready: Promise<void>;
  readonly #options: FollowerOptions;
  readonly #organization: string;
  readonly #onIdle: () => void;
  readonly #heard = new Map<string, number>();
  #interval = 0;
  #admitted = new Map<string, Rates>();
  #usedAt = Date.now();
  readonly #timer: NodeJS.Timeout;
  readonly #unsubscribe: () => void;

  constructor(options: FollowerOptions, { organization, onIdle }: Followed) {
    this.#options = options;
    this.#organization = organization;
    this.#onIdle = onIdle;
    this.#unsubscribe = options.exchange.subscribe(organization, (news) => this.#hear(news, Date.now()));
    this.#timer = setInterval(() => this.#tend(Date.now()), TEND_MS).unref();
    this.tell({ kind: "hello" });
    const read = this.#read().catch(options.onError);
    this.ready = Promise.race([read, sleep(MAX_READ_MS, undefined, { ref: false })]);
  }

  /** Reaches this process at once, and the others in milliseconds. */
  tell(news: TurnNews): void {
    this.#options.exchange.publish(this.#organization, { ...news, process: this.#options.process });
  }

  #hear(news: TurnNews & { process: string }, now: number): void {
    const isOther = news.process !== this.#options.process;
    if (isOther) this.#heard.set(news.process, now);
    if (news.kind === "began") this.counts.begin({ ...news, at: now });
    else if (news.kind === "ended") this.counts.end(news.turn_id, news.tokens, now);
    else if (news.kind === "withdrawn") this.counts.withdraw(news.turn_id, now);
    else if (news.kind === "hello" && isOther) this.#repeatNewest(now);
  }
  /** For a process that has just begun to count: it has read what is in the read models, which follow a moment later. */
  #repeatNewest(now: number): void {
    for (const { turn_id, subjects, tokens } of this.counts.openSince(now - SILENT_MS))
      this.tell({ kind: "began", turn_id, subjects, tokens });
    this.tell({ kind: "here" });
  }

  async #read(): Promise<void> {
    const { db } = this.#options;
    const since = new Date(Date.now() - WINDOW_SECONDS * 1000);
    for (const turn of await listRecentTurns(db, this.#organization, since)) {
      const { turn_id, started_at, ended_at, tokens } = turn;
      this.counts.begin({ turn_id, subjects: subjectsOf(turn), tokens: 0, at: started_at.getTime() });
      if (ended_at) this.counts.end(turn_id, tokens, ended_at.getTime());
    }
  }

  #tend(now: number): void {
    if (now - this.#usedAt > IDLE_MS) {
      this.close();
      this.#onIdle();
      return;
    }
    this.counts.prune(now);
    for (const [name, at] of this.#heard) if (now - at > SILENT_MS) this.#heard.delete(name);
    this.tell({ kind: "here" });
    this.#settle(now).catch(this.#options.onError);
  }
  /** Ends turns whose end nobody told: their client left, or their process died. */
  async #settle(now: number): Promise<void> {
    const open = this.counts.openBefore(now - LOOK_UP_AFTER_MS);
    if (open.length === 0) return;
    const found = await findTurns(this.#options.db, this.#organization, open);
    for (const { turn_id, ended_at, tokens } of found) if (ended_at) this.counts.end(turn_id, tokens, now);
    const recorded = new Set(found.map(({ turn_id }) => turn_id));
    for (const turn_id of this.counts.openBefore(now - UNRECORDED_MS))
      if (!recorded.has(turn_id)) this.counts.end(turn_id, 0, now);
  }

  /** What this process may still give out in the current interval. */
  share(now: number): Share {
    this.#usedAt = now;
    const interval = Math.floor(now / SHARE_MS);
    if (interval !== this.#interval) [this.#interval, this.#admitted] = [interval, new Map()];
    const admitted = this.#admitted;
    return { processes: this.#heard.size + 1, admitted: (counted) => admitted.get(counted) ?? NOTHING };
  }
  /** Counts a turn against this process's share of the limits. */
  giveOut(rates: RateStatus[], tokens: number): void {
    const added = addedBy(tokens);
    for (const counted of new Set(rates.map((rate) => rate.counted))) {
      const before = this.#admitted.get(counted) ?? NOTHING;
      this.#admitted.set(counted, {
        requests_per_minute: before.requests_per_minute + added.requests_per_minute,
        tokens_per_minute: before.tokens_per_minute + added.tokens_per_minute,
        concurrent_turns: before.concurrent_turns + added.concurrent_turns,
      });
    }
  }

  close(): void {
    clearInterval(this.#timer);
    this.#unsubscribe();
  }
}

const NOTHING: Rates = { requests_per_minute: 0, tokens_per_minute: 0, concurrent_turns: 0 };
