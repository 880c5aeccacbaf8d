import { isEachUser, LimitName, splitSubject, type BudgetStep } from "#events/budget.ts";
import { fromPicodollars } from "#events/money.ts";
import { createPause, type Pause } from "#events/slices.ts";
import {
  periodEnd,
  fromUnits,
  MEASURES,
  nameOfPeriod,
  NO_AMOUNTS,
  toUnits,
  type HeldSums,
  type Sums,
  type Unit,
} from "./limits.ts";
import type { BudgetRow, SplitBy } from "./query.ts";
import { findCountedSubjectOf, isUser, type Spender } from "./subjects.ts";

/** One limit of a budget, and its spending. */
export interface LimitStatus {
  name: LimitName;
  /** Whole numbers, or US dollars as a decimal text. */
  at_most: string;
  spent: string;
  /** For money: what is reserved for running turns, in US dollars. */
  reserved?: string;
  /** Whole percent, rounded down; 100 if the limit is zero. */
  percent: number;
  /** `2026-11-23`, `2026-W48`, `2026-11` or `total`; for what is stored or running, today. */
  period: string;
  /** Null: never, or when something is deleted or ends. */
  ends_at: Date | null;
}
export interface BudgetStatus {
  budget: BudgetRow;
  limits: LimitStatus[];
}

const percentOf = (sum: bigint, most: bigint): number => (most === 0n ? 100 : Number((sum * 100n) / most));
function statusOf(name: LimitName, most: bigint, sum: bigint, now: Date): Omit<LimitStatus, "reserved"> {
  return {
    name,
    at_most: fromUnits(name, most),
    spent: fromUnits(name, sum),
    percent: percentOf(sum, most),
    period: nameOfPeriod(name, now),
    ends_at: periodEnd(name, now),
  };
}

/** Picodollars that the sums do not include: of turns that have ended since, and reserved for running ones. */
export interface UnsettledAmounts {
  ended: bigint;
  reserved: bigint;
}
/** The unsettled amounts of all subjects. */
export interface PendingAmounts {
  of(subject: string): UnsettledAmounts;
  /** Those with unsettled turns. */
  subjects(): Iterable<string>;
}
export const NOTHING_UNSETTLED: UnsettledAmounts = { ended: 0n, reserved: 0n };

/** Sums until today: of this month, this week and all time. Absent if no budget needs them. */
export interface EarlierSums {
  before: Sums;
  week?: Sums;
  ever?: Sums;
}
const NO_SUMS: Sums = new Map();
/** The sums to add to today's. */
export function earlierSumsFor(name: LimitName, { before, week = NO_SUMS, ever = NO_SUMS }: EarlierSums): Sums {
  const { per } = MEASURES[name];
  if (per === "month") return before;
  if (per === "week") return week;
  return per === "total" ? ever : NO_SUMS;
}

/** What budgets are compared with. `today`: since the beginning of the day. */
export interface BudgetFigures extends EarlierSums {
  today: Sums;
  pending?: PendingAmounts;
  /** What is stored and running; absent: not read. */
  held?: HeldSums;
}

export const hasMoney = (budgets: BudgetRow[]): boolean => has(budgets, ({ unit }) => unit === "cost");

export const hasPeriods = (budgets: BudgetRow[]): boolean => has(budgets, ({ per }) => per !== "now");
export const hasWeeks = (budgets: BudgetRow[]): boolean => has(budgets, ({ per }) => per === "week");
export const hasTotals = (budgets: BudgetRow[]): boolean => has(budgets, ({ per }) => per === "total");
/** Whether a budget limits what is stored or running. */
export const hasHeld = (budgets: BudgetRow[]): boolean => has(budgets, ({ per }) => per === "now");
/** What sums must be split by for these budgets. */
export function splitFor(budgets: BudgetRow[]): SplitBy {
  const subjects = budgets.map(({ subject }) => splitSubject(subject));
  return {
    byModel: subjects.some(({ model }) => model !== null),
    byUser: subjects.some(({ who }) => isEachUser(who) || isUser(who, null)),
  };
}
export const isSameSplit = (a: SplitBy, b: SplitBy): boolean => a.byModel === b.byModel && a.byUser === b.byUser;

/** The limits that are set, optionally of these units only. */
const namesOf = ({ limits }: BudgetRow, units?: ReadonlySet<Unit>): LimitName[] =>
  LimitName.options.filter((name) => limits[name] !== undefined && (!units || units.has(MEASURES[name].unit)));
const has = (budgets: BudgetRow[], is: (measure: (typeof MEASURES)[LimitName]) => boolean): boolean =>
  budgets.some((budget) => namesOf(budget).some((name) => is(MEASURES[name])));

export interface CountedSubject {
  /** The subject whose amounts are compared. */
  subject: string;
  /** Absent: all. */
  units?: ReadonlySet<Unit> | undefined;
  /** Limits of which less is used, in percent, are left out before they are formatted, which takes long. */
  from?: number;
}

/** What a subject has used of a limit, in comparable units; undefined if it was not read. */
function usedOf(name: LimitName, subject: string, figures: BudgetFigures): bigint | undefined {
  const { today, pending, held } = figures;
  const { unit, per } = MEASURES[name];
  if (per === "now") return held?.get(subject)[unit];
  const ofToday = (today.get(subject) ?? NO_AMOUNTS)[unit];
  const sum = ofToday + (earlierSumsFor(name, figures).get(subject) ?? NO_AMOUNTS)[unit];
  return unit === "cost" ? sum + (pending?.of(subject) ?? NOTHING_UNSETTLED).ended : sum;
}

const reservedOf = (name: LimitName, subject: string, { pending }: BudgetFigures): bigint =>
  MEASURES[name].unit === "cost" && pending ? pending.of(subject).reserved : 0n;

function limitStatus(
  { limits }: BudgetRow,
  name: LimitName,
  { subject, from = 0, figures, now }: CountedSubject & { figures: BudgetFigures; now: Date },
): LimitStatus[] {
  const used = usedOf(name, subject, figures);
  const most = toUnits(name, limits[name]!);
  if (used === undefined || percentOf(used, most) < from) return [];
  const status = statusOf(name, most, used, now);
  const reserved = MEASURES[name].unit === "cost" && figures.pending?.of(subject).reserved;
  return [{ ...status, ...(typeof reserved === "bigint" && { reserved: fromPicodollars(reserved) }) }];
}

/** How much of each limit of a budget one subject has used. */
export const limitStatuses = (
  budget: BudgetRow,
  { units, ...counted }: CountedSubject,
  figures: BudgetFigures,
  now: Date,
): LimitStatus[] => namesOf(budget, units).flatMap((name) => limitStatus(budget, name, { ...counted, figures, now }));

/** Users by the model of their sums; null: any model. */
type Users = ReadonlyMap<string | null, ReadonlySet<string>>;

/** Lists the users that have sums or reservations once for all budgets, because each model may have a budget for each user. */
async function listUsers({ today, before, week, ever, held, pending }: BudgetFigures, pause: Pause): Promise<Users> {
  const users = new Map<string | null, Set<string>>();
  const all = [today.keys(), before.keys(), week?.keys(), ever?.keys(), held?.keys(), pending?.subjects()];
  for (const subjects of all)
    for (const one of subjects ?? []) {
      const { model } = splitSubject(one);
      if (isUser(one, model)) users.set(model, (users.get(model) ?? new Set<string>()).add(one));
      const turn = pause();
      if (turn) await turn;
    }
  return users;
}

/**
 * For a budget for each user: for each limit, the user with the highest use; of equal ones, the one with most reserved. Compares
 * the sums of users before it formats one, because there may be a hundred thousand of them, once a second.
 */
async function mostOfUsers(
  budget: BudgetRow,
  users: Users,
  { figures, now, pause }: { figures: BudgetFigures; now: Date; pause: Pause },
): Promise<LimitStatus[]> {
  const limits: LimitStatus[] = [];
  const { model } = splitSubject(budget.subject);
  for (const name of namesOf(budget)) {
    let [subject, most] = [budget.subject, 0n];
    for (const user of users.get(model) ?? []) {
      const used = usedOf(name, user, figures) ?? 0n;
      const isMore =
        used > most || (used === most && reservedOf(name, user, figures) > reservedOf(name, subject, figures));
      if (isMore) [subject, most] = [user, used];
      const turn = pause();
      if (turn) await turn;
    }
    limits.push(...limitStatus(budget, name, { subject, figures, now }));
  }
  return limits;
}

const sharedStatus = (budget: BudgetRow, figures: BudgetFigures, now: Date): BudgetStatus => ({
  budget,
  limits: limitStatuses(budget, { subject: budget.subject }, figures, now),
});

/** How much of each limit of each budget is used, except of budgets for each user. For the few budgets of one spender. */
export const sharedStatuses = (budgets: BudgetRow[], figures: BudgetFigures, now: Date): BudgetStatus[] =>
  budgets.filter(({ subject }) => !isEachUser(subject)).map((budget) => sharedStatus(budget, figures, now));

/** How much of each limit of each budget is used. Lets other work run in between. */
export async function budgetStatuses(budgets: BudgetRow[], figures: BudgetFigures, now: Date): Promise<BudgetStatus[]> {
  const statuses: BudgetStatus[] = [];
  const pause = createPause();
  let users: Users | undefined;
  for (const budget of budgets) {
    if (isEachUser(budget.subject)) {
      users ??= await listUsers(figures, pause);
      statuses.push({ budget, limits: await mostOfUsers(budget, users, { figures, now, pause }) });
    } else statuses.push(sharedStatus(budget, figures, now));
    const turn = pause();
    if (turn) await turn;
  }
  return statuses;
}

/** The budgets that apply to a spender, with the spender's own use. */
export const statusesFor = (
  budgets: BudgetRow[],
  figures: BudgetFigures,
  spender: Spender,
  now: Date,
): BudgetStatus[] =>
  budgets.flatMap((budget) => {
    const subject = findCountedSubjectOf(budget, spender);
    return subject === undefined ? [] : [{ budget, limits: limitStatuses(budget, { subject }, figures, now) }];
  });

/** The thresholds (80 or 100 percent) that these limits have reached. Those of users are not recorded, because users are personal data. */
export const reachedLimits = (statuses: BudgetStatus[]): BudgetStep[] =>
  statuses.flatMap(({ budget: { subject }, limits }) =>
    (isEachUser(subject) ? [] : limits)
      .filter(({ percent }) => percent >= 80)
      .map(({ name, period, percent, spent, at_most }) => ({
        subject,
        limit: name,
        period,
        percent: percent >= 100 ? 100 : 80,
        spent,
        at_most,
      })),
  );
