import { setTimeout as sleep } from "node:timers/promises";
import type { Reached } from "#events/budget.ts";
import type { Db } from "../projection.ts";
import { listBudgets, sumSpent, type BudgetRow } from "./query.ts";
import { readSpending } from "./readSpending.ts";
import { readPrices, type PriceOf } from "./reserve.ts";
import { Reservations, type Spending } from "./reservations.ts";
import {
  budgetStatuses,
  countedAs,
  hasMoney,
  hasPeriods,
  limitStatuses,
  periodsAt,
  reachedLimits,
  subjectsOf,
  sumBySubject,
  type BudgetStatus,
  type Figures,
  type LimitStatus,
  type Spender,
  type Sums,
} from "./status.ts";

/** Age of the figures that decide about a turn: turns that ended within that time are missing. */
const MAX_AGE_MS = 1_000;
/** An organization without budgets never waits: new ones are looked up in the background, unless it was idle for so long. */
const MAX_IDLE_MS = 60_000;
/** Earlier days of the month change only where a turn of theirs ends today. */
const MAX_AGE_OF_PAST_MS = 60_000;
/** How long a turn waits for figures; then the last known ones decide, so that a slow database holds up no turn. */
const MAX_WAIT_MS = 2_000;
/** Organizations, budgets and sums that each memory of this process holds, a few hundred bytes each. */
const MAX_ENTRIES = 100_000;

/** A limit that a spender has reached to 80 % or more, and the budget's subject. */
export interface ReachedLimit extends LimitStatus {
  subject: string;
  /** Turns are refused: it is used up, and hard. */
  refuses: boolean;
}

/** A limit that is used up, and the budget's subject. */
export type SpentLimit = Pick<ReachedLimit, "subject" | "name" | "spent" | "at_most" | "ends_at">;

export interface BudgetWatch {
  /**
   * The most used limit among those of the spender that are reached to 80 %; undefined if there is none. Waits two seconds at
   * most and never throws: where figures cannot be read, the last known ones decide.
   */
  check(spender: Spender): Promise<ReachedLimit | undefined>;
  /** What the last `check` of the organization knew. */
  reading(organization: string): Reading;
  /** All budgets with figures of this moment. */
  fresh(organization: string): Promise<BudgetStatus[]>;
}

interface WatchOptions {
  db: Db;
  /** Records that a limit is reached. Called again after it failed. */
  report(organization: string, reached: Reached): Promise<unknown>;
  onError(error: unknown): void;
  /** Turns of which the process does not know whether the read models contain their end. */
  unsettled?(organization: string): string[];
}

/** The budgets of an organization with what they are compared with, and when it was read. */
export interface Reading extends Figures {
  at: number;
  budgets: BudgetRow[];
  /** Where a budget has a limit of a day or a month. */
  spending?: Spending;
  /** Where one has a limit of money. */
  priceOf?: PriceOf;
}
const NO_READING: Reading = { at: Number.NEGATIVE_INFINITY, budgets: [], before: new Map(), today: new Map() };

/** The last value of each organization. Forgets all of them when they are too many: they are read again. */
function createMemory<T>(sizeOf: (value: T) => number) {
  const values = new Map<string, T>();
  let entries = 0;
  function forget(organization: string): void {
    const value = values.get(organization);
    if (value !== undefined) entries -= 1 + sizeOf(value);
    values.delete(organization);
  }
  return {
    get: (organization: string) => values.get(organization),
    forget,
    set(organization: string, value: T): void {
      forget(organization);
      const size = 1 + sizeOf(value);
      if (entries + size > MAX_ENTRIES) {
        values.clear();
        entries = 0;
      }
      values.set(organization, value);
      entries += size;
    },
  };
}

/** Sums what an organization spent, its earlier days of the month at most once a minute. */
function createFigures({ db, unsettled }: WatchOptions) {
  const pasts = createMemory<{ at: number; day: number; sums: Sums }>(({ sums }) => sums.size);

  async function readPast(organization: string, { month, day }: ReturnType<typeof periodsAt>, now: number) {
    const known = pasts.get(organization);
    if (known && known.day === day.getTime() && now - known.at < MAX_AGE_OF_PAST_MS) return known.sums;
    const sums = month < day ? sumBySubject(await sumSpent(db, organization, month, day)) : new Map();
    // turns of yesterday may still arrive in the read model
    if (now - day.getTime() > MAX_AGE_OF_PAST_MS) pasts.set(organization, { at: now, day: day.getTime(), sums });
    return sums;
  }
  /** The past last: what moves there at midnight may count twice for a moment, and is never missing. */
  async function readSums(organization: string, now: number): Promise<Spending> {
    const periods = periodsAt(new Date(now));
    const range = { from: periods.day, to: periods.nextDay, asked: unsettled?.(organization) ?? [] };
    const { spent, ...today } = await readSpending(db, organization, range);
    return { ...today, today: sumBySubject(spent), before: await readPast(organization, periods, now) };
  }
  return {
    async read(organization: string, now: number): Promise<Reading> {
      const budgets = await listBudgets(db, organization);
      if (!hasPeriods(budgets)) return { ...NO_READING, at: now, budgets };
      const [spending, priceOf] = await Promise.all([
        readSums(organization, now),
        hasMoney(budgets) ? readPrices(db, organization) : undefined,
      ]);
      const { before, today } = spending;
      const reserved = new Reservations();
      reserved.apply(spending, now);
      const pending = (subject: string) => reserved.of(subject);
      return { at: now, budgets, before, today, pending, spending, ...(priceOf && { priceOf }) };
    },
    forget: pasts.forget,
  };
}

/** Reports each step of a limit once per process; the decider lets the first process's report into the log. */
function createReporter({ report, onError }: WatchOptions) {
  const reported = new Set<string>();
  return (organization: string, statuses: BudgetStatus[]): void => {
    for (const reached of reachedLimits(statuses)) {
      const { subject, limit, period, percent, at_most } = reached;
      const key = [organization, subject, limit, period, percent, at_most].join();
      if (reported.has(key)) continue;
      if (reported.size >= MAX_ENTRIES) reported.clear();
      reported.add(key);
      report(organization, reached).catch((error: unknown) => {
        reported.delete(key);
        onError(error);
      });
    }
  };
}

/** The limits of the spender that are reached to 80 %, the one that refuses first; none whose period is over. */
function reachedBy({ budgets, at, ...figures }: Reading, spender: Spender): ReachedLimit[] {
  const subjects = subjectsOf(spender);
  const now = Date.now();
  return budgets
    .flatMap((budget) => {
      const { subject, hard } = budget;
      const counted = countedAs(budget, subjects);
      const limits = counted === undefined ? [] : limitStatuses(budget, counted, figures, new Date(at));
      return limits.map((limit) => ({ ...limit, subject, refuses: hard && limit.percent >= 100 }));
    })
    .filter(({ percent, ends_at }) => percent >= 80 && ends_at.getTime() > now)
    .toSorted((a, b) => Number(b.refuses) - Number(a.refuses) || b.percent - a.percent);
}

/** Gives `last` instead where reading fails or takes long. */
async function within(reading: Promise<Reading>, last: Reading): Promise<Reading> {
  const timer = new AbortController();
  try {
    return await Promise.race([reading.catch(() => last), sleep(MAX_WAIT_MS, last, { signal: timer.signal })]);
  } finally {
    timer.abort();
  }
}

/** Reads what budgets leave, shared by all turns of an organization in this process. */
export function watchBudgets(options: WatchOptions): BudgetWatch {
  const figures = createFigures(options);
  const tell = createReporter(options);
  const known = createMemory<Reading>(({ budgets, today }) => budgets.length + today.size);
  const loading = new Map<string, Promise<Reading>>();

  async function load(organization: string): Promise<Reading> {
    const reading = await figures.read(organization, Date.now());
    known.set(organization, reading);
    tell(organization, statusesOf(reading));
    return reading;
  }
  function refresh(organization: string): Promise<Reading> {
    const running = loading.get(organization);
    if (running) return running;
    const started = load(organization).finally(() => loading.delete(organization));
    loading.set(organization, started);
    // logs a failure once, however many turns wait
    started.catch(options.onError);
    return started;
  }

  async function recent(organization: string): Promise<Reading> {
    const last = known.get(organization) ?? NO_READING;
    const age = Date.now() - last.at;
    if (age < MAX_AGE_MS) return last;
    const reading = refresh(organization);
    if (last.budgets.length === 0 && age <= MAX_IDLE_MS) return last;
    return within(reading, last);
  }

  return {
    check: async (spender) => reachedBy(await recent(spender.organization_id), spender)[0],
    reading: (organization) => known.get(organization) ?? NO_READING,
    async fresh(organization) {
      // one that runs may have begun before what the caller wants to see
      await loading.get(organization)?.catch(() => {});
      figures.forget(organization);
      return statusesOf(await refresh(organization));
    },
  };
}

const statusesOf = ({ budgets, at, ...figures }: Reading): BudgetStatus[] =>
  budgetStatuses(budgets, figures, new Date(at));

/** For people and clients: which budget, what was spent of it, and when it begins again. */
export function describeLimit({ subject, name, spent, at_most, ends_at }: SpentLimit): string {
  const unit = name.startsWith("cost") ? "US dollars" : "tokens";
  return `The budget ${subject} has used ${spent} of ${at_most} ${unit} (${name}). It begins again at ${ends_at.toISOString()}.`;
}
