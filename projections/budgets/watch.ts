import { currentTime } from "#events/clock.ts";
import { createReporter, type ReportOptions } from "./reporter.ts";
import { LimitName, type BudgetStep } from "#events/budget.ts";
import { PAGE_PRICE_NAME } from "#events/price.ts";
import type { FigureOptions, BudgetReading } from "./figures.ts";
import { createHoldings } from "./holdings.ts";
import { MEASURES, NO_AMOUNTS, type Amounts, type Unit } from "./limits.ts";
import type { BudgetRow } from "./query.ts";
import { createBudgetReadings, statusesOf, withFallback } from "./readings.ts";
import {
  hasHeld,
  limitStatuses,
  reachedLimits,
  sharedStatuses,
  statusesFor,
  type BudgetStatus,
  type LimitStatus,
} from "./status.ts";
import { findCountedSubject, spenderKey, subjectsOf, type Spender } from "./subjects.ts";

/** Maximum spenders of an organization whose checks are cached while a reading is current. */
const MAX_TURN_CHECKS = 1_000;

/** A limit of which a spender has used at least 80 %, and its budget's subject. */
export interface ReachedLimit extends LimitStatus {
  subject: string;
  /** Whether turns are refused: the limit is hard and used up. */
  refuses: boolean;
}

/** What a request adds. 0 for pages, whose number is unknown before a file is read, and for what a turn spends. */
export type RequestedAmounts = Partial<Record<Unit, number>>;
const OF_TURN: RequestedAmounts = { requests: 0, tokens: 0, cost: 0 };

/** Pages with a price also need money. */
const withMoney = (wanted: RequestedAmounts, { priceOf }: BudgetReading): RequestedAmounts =>
  "pages" in wanted && priceOf?.(PAGE_PRICE_NAME) ? { ...wanted, cost: 0 } : wanted;

/** Permission to store something or to begin a run. */
export interface HoldingAdmission {
  /** The most used limit that has reached 80 %. */
  reached(): ReachedLimit | undefined;
  /** Reports that it is recorded. */
  settle(position: number): void;
  /** Reports that it was refused after all. */
  withdraw(): void;
}
const UNLIMITED: HoldingAdmission = { reached: () => undefined, settle: () => {}, withdraw: () => {} };

export interface BudgetWatch {
  /**
   * Of the spender's limits that have reached 80 %: the one that refuses longest, or the most used one if none refuses; undefined
   * if there is none. Waits at most two seconds and never throws: if figures cannot be read, the last known ones decide.
   */
  check(spender: Spender): Promise<ReachedLimit | undefined>;
  /** Decides whether something may be stored or read, or a run may begin, and counts it at once. Never throws, like `check`. */
  admit(
    spender: Spender,
    wanted: RequestedAmounts,
  ): Promise<{ admitted: HoldingAdmission } | { refused: ReachedLimit }>;
  /** Records thresholds reached by limits per minute or on concurrency, each at most once a day. */
  note(organization: string, reached: BudgetStep[]): void;
  /** Reports the end of a turn: its spending may reach a limit, even if no other turn follows. */
  noteEnd(organization: string): void;
  /** The figures of the organization's last `check`. */
  reading(organization: string): BudgetReading;
  /** The figures that a `check` would use now. */
  recent(organization: string): Promise<BudgetReading>;
  /** The budgets that apply to a spender, of any model, with figures that are at most a second old. */
  statusesFor(spender: Spender): Promise<BudgetStatus[]>;
  /** All budgets with figures that are read now. */
  statuses(organization: string): Promise<BudgetStatus[]>;
}

interface WatchOptions extends FigureOptions, ReportOptions {}

const isPresent = ({ ends_at }: LimitStatus): boolean => !ends_at || ends_at.getTime() > currentTime();

/** Refusing limits first, the one that refuses longest before the others; then those of which most is used. */
function compareReached(a: ReachedLimit, b: ReachedLimit): number {
  const endOf = ({ ends_at }: ReachedLimit): number => ends_at?.getTime() ?? Number.POSITIVE_INFINITY;
  if (a.refuses !== b.refuses) return Number(b.refuses) - Number(a.refuses);
  if (a.refuses && endOf(a) !== endOf(b)) return endOf(b) - endOf(a);
  return b.percent - a.percent;
}

/** The spender's limits including the wanted amounts, in the order of `compareReached`. Leaves out limits whose period is over. */
function reachedBy(
  { budgets, at, ...figures }: BudgetReading,
  subjects: string[],
  wanted: RequestedAmounts,
): ReachedLimit[] {
  const units = new Set(Object.keys(wanted) as Unit[]);
  // what a turn spends is not known yet, so limits that are far away cannot refuse it
  const from = wanted === OF_TURN ? 80 : 0;
  return budgets
    .flatMap((budget) => {
      const { subject, hard } = budget;
      const counted = findCountedSubject(budget, subjects);
      if (counted === undefined) return [];
      const limits = limitStatuses(budget, { subject: counted, units, from }, figures, new Date(at));
      return limits.map((limit) => ({ ...limit, subject, refuses: hard && isFull(limit, wanted) }));
    })
    .filter((limit) => (limit.percent >= 80 || limit.refuses) && isPresent(limit))
    .toSorted(compareReached);
}

/** Cached per reading: comparing all limits took more than a hundredth of a turn's time. */
const turnChecks = new WeakMap<BudgetReading, Map<string, ReachedLimit[]>>();

function reachedInTurn(reading: BudgetReading, spender: Spender): ReachedLimit | undefined {
  if (reading.budgets.length === 0) return undefined;
  const key = spenderKey(spender);
  const bySpender = turnChecks.get(reading) ?? new Map<string, ReachedLimit[]>();
  turnChecks.set(reading, bySpender);
  const reached = bySpender.get(key) ?? reachedBy(reading, subjectsOf(spender), OF_TURN);
  if (bySpender.size < MAX_TURN_CHECKS) bySpender.set(key, reached);
  return reached.find(isPresent);
}

function isFull({ name, spent, at_most, percent }: LimitStatus, wanted: RequestedAmounts): boolean {
  const { unit, per } = MEASURES[name];
  return per === "now" ? BigInt(spent) + BigInt(wanted[unit] ?? 0) > BigInt(at_most) : percent >= 100;
}

/** Waits for sums, but no longer than turns do. */
const settled = (reading: Promise<void>): Promise<void> => withFallback(reading, undefined);

const hasUnits = ({ limits }: BudgetRow, wanted: RequestedAmounts, wantedPer?: "now"): boolean =>
  LimitName.options.some((name) => {
    const { unit, per } = MEASURES[name];
    return limits[name] !== undefined && unit in wanted && (!wantedPer || per === wantedPer);
  });
const toAmounts = ({ bytes = 0, documents = 0, runs = 0 }: RequestedAmounts): Amounts => ({
  ...NO_AMOUNTS,
  bytes: BigInt(bytes),
  documents: BigInt(documents),
  runs: BigInt(runs),
});

const toAdmission = (
  { settle, withdraw }: Omit<HoldingAdmission, "reached">,
  reached: HoldingAdmission["reached"],
  report: () => void,
): HoldingAdmission => ({
  reached,
  withdraw,
  settle(position) {
    settle(position);
    report();
  },
});

/** Only the budgets that apply to a spender. */
const onlyFor = (reading: BudgetReading, subjects: string[]): BudgetReading => ({
  ...reading,
  budgets: reading.budgets.filter((budget) => findCountedSubject(budget, subjects) !== undefined),
});

/** Thresholds of users are not recorded, and finding the user with the highest use takes long. */
const reachedShared = ({ budgets, at, ...figures }: BudgetReading): BudgetStep[] =>
  reachedLimits(sharedStatuses(budgets, figures, new Date(at)));

/** Reads what budgets have left, shared by all of an organization's turns in this process. */
export function watchBudgets(options: WatchOptions): BudgetWatch {
  const budgetsOf = (organization: string): BudgetRow[] => readings.lastOf(organization).budgets;
  const reportReached = createReporter(options, budgetsOf);
  const readings = createBudgetReadings(options, reportReached);
  const holdings = createHoldings(options);

  const withHeld = (organization: string, reading: BudgetReading) => ({
    ...reading,
    held: holdings.sums(organization),
  });
  /** Near a limit the sums are read again, because deletions and ended runs make room, and other processes admit things, too. */
  async function readHeld(organization: string, reached: () => ReachedLimit[]): Promise<void> {
    await settled(holdings.readRecent(organization));
    if (reached().some(({ ends_at }) => ends_at === null)) await settled(holdings.readNow(organization));
  }

  return {
    async check(spender) {
      const reading = await readings.recent(spender.organization_id);
      // most turns: comparing limits, even once per spender and reading, takes longer than everything else here
      return readings.isFar(reading) ? undefined : reachedInTurn(reading, spender);
    },
    async admit(spender, demand) {
      const { organization_id } = spender;
      const subjects = subjectsOf(spender);
      const relevant = onlyFor(await readings.recent(organization_id), subjects);
      const wanted = withMoney(demand, relevant);
      if (!relevant.budgets.some((budget) => hasUnits(budget, wanted))) return { admitted: UNLIMITED };
      const reached = (more: RequestedAmounts) => reachedBy(withHeld(organization_id, relevant), subjects, more);
      if (relevant.budgets.some((budget) => hasUnits(budget, wanted, "now")))
        await readHeld(organization_id, () => reached(wanted));
      // no awaiting from here on, so that no other request gets the same room
      const [limit] = reached(wanted);
      if (limit?.refuses) return { refused: limit };
      const added = holdings.add(organization_id, subjects, toAmounts(wanted));
      const report = () => reportReached(organization_id, reachedShared(withHeld(organization_id, relevant)));
      const nothing = Object.fromEntries(Object.keys(wanted).map((unit) => [unit, 0]));
      return { admitted: toAdmission(added, () => reached(nothing)[0], report) };
    },
    note: reportReached,
    noteEnd: readings.lookLater,
    reading: readings.lastOf,
    recent: readings.recent,
    async statusesFor(spender) {
      const { organization_id } = spender;
      const { budgets, at, ...figures } = await readings.recent(organization_id);
      if (!hasHeld(budgets)) return statusesFor(budgets, figures, spender, new Date(at));
      await settled(holdings.readRecent(organization_id));
      const held = holdings.sums(organization_id);
      return statusesFor(budgets, { ...figures, held }, spender, new Date(at));
    },
    async statuses(organization) {
      const reading = await readings.whole(organization);
      if (!hasHeld(reading.budgets)) return statusesOf(reading);
      await holdings.readNow(organization);
      return statusesOf(withHeld(organization, reading));
    },
  };
}
