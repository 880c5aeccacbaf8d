import { currentTime } from "#events/clock.ts";
import { createReporter, type ReportOptions } from "./reporter.ts";
import { isEachUser, LimitName, type BudgetStep } from "#events/budget.ts";
import { PAGES } from "#events/price.ts";
import type { FigureOptions, Reading } from "./figures.ts";
import { createHoldings } from "./holdings.ts";
import { MEASURES, NO_AMOUNTS, type Amounts, type Unit } from "./limits.ts";
import type { BudgetRow } from "./query.ts";
import { createReadings, statusesOf, within } from "./readings.ts";
import { hasHeld, limitStatuses, reachedLimits, statusesFor, type BudgetStatus, type LimitStatus } from "./status.ts";
import { countedAs, spenderKey, subjectsOf, type Spender } from "./subjects.ts";

/** Spenders of an organization whose checks are kept for the second that a reading lasts; others are compared again. */
const MAX_TURN_CHECKS = 1_000;

/** A limit that a spender has reached to 80 % or more, and the budget's subject. */
export interface ReachedLimit extends LimitStatus {
  subject: string;
  /** Turns are refused: it is used up, and hard. */
  refuses: boolean;
}

/** What a request adds; of pages, which nobody knows before a file is read, and of what a turn spends, 0. */
export type Demand = Partial<Record<Unit, number>>;
const OF_TURN: Demand = { requests: 0, tokens: 0, cost: 0 };

/** Pages that have a price need money, too. */
const withMoney = (wanted: Demand, { priceOf }: Reading): Demand =>
  "pages" in wanted && priceOf?.(PAGES) ? { ...wanted, cost: 0 } : wanted;

/** Something that may be stored, or a run that may begin. */
export interface HoldingAdmission {
  /** The most used limit that it has reached to 80 %. */
  reached(): ReachedLimit | undefined;
  /** It is in the log. */
  settle(position: number): void;
  /** It was refused after all. */
  withdraw(): void;
}
const UNLIMITED: HoldingAdmission = { reached: () => undefined, settle: () => {}, withdraw: () => {} };

export interface BudgetWatch {
  /**
   * The most used limit among those of the spender that are reached to 80 %; undefined if there is none. Waits two seconds at
   * most and never throws: where figures cannot be read, the last known ones decide.
   */
  check(spender: Spender): Promise<ReachedLimit | undefined>;
  /** Whether something may be stored or read, or a run begin, now. Counts it at once. Never throws, like `check`. */
  admit(spender: Spender, wanted: Demand): Promise<{ admitted: HoldingAdmission } | { refused: ReachedLimit }>;
  /** Records steps that limits of a minute or a moment have reached, each at most once a day. */
  note(organization: string, reached: BudgetStep[]): void;
  /** A turn has ended: what it spent may reach a limit, also where no other turn follows. */
  noteEnd(organization: string): void;
  /** What the last `check` of the organization knew. */
  reading(organization: string): Reading;
  /** The budgets that concern a spender, whatever model they are about, with figures that are a second old at most. */
  concerning(spender: Spender): Promise<BudgetStatus[]>;
  /** All budgets with figures of this moment. */
  fresh(organization: string): Promise<BudgetStatus[]>;
}

interface WatchOptions extends FigureOptions, ReportOptions {}

const isPresent = ({ ends_at }: LimitStatus): boolean => !ends_at || ends_at.getTime() > currentTime();

/** How far the limits of the spender are reached with what is wanted, the one that refuses first; none whose period is over. */
function reachedBy({ budgets, at, ...figures }: Reading, subjects: string[], wanted: Demand): ReachedLimit[] {
  const units = new Set(Object.keys(wanted) as Unit[]);
  return budgets
    .flatMap((budget) => {
      const { subject, hard } = budget;
      const counted = countedAs(budget, subjects);
      if (counted === undefined) return [];
      const limits = limitStatuses(budget, { subject: counted, units }, figures, new Date(at));
      return limits.map((limit) => ({ ...limit, subject, refuses: hard && isFull(limit, wanted) }));
    })
    .filter((limit) => (limit.percent >= 80 || limit.refuses) && isPresent(limit))
    .toSorted((a, b) => Number(b.refuses) - Number(a.refuses) || b.percent - a.percent);
}

/** Every turn of a spender finds the same until the figures are read again: comparing them took more than a hundredth of a turn. */
const turnChecks = new WeakMap<Reading, Map<string, ReachedLimit[]>>();

function reachedInTurn(reading: Reading, spender: Spender): ReachedLimit | undefined {
  if (reading.budgets.length === 0) return undefined;
  const key = spenderKey(spender);
  const bySpender = turnChecks.get(reading) ?? new Map<string, ReachedLimit[]>();
  turnChecks.set(reading, bySpender);
  const reached = bySpender.get(key) ?? reachedBy(reading, subjectsOf(spender), OF_TURN);
  if (bySpender.size < MAX_TURN_CHECKS) bySpender.set(key, reached);
  return reached.find(isPresent);
}

function isFull({ name, spent, at_most, percent }: LimitStatus, wanted: Demand): boolean {
  const { unit, per } = MEASURES[name];
  return per === "now" ? BigInt(spent) + BigInt(wanted[unit] ?? 0) > BigInt(at_most) : percent >= 100;
}

/** Waits for sums, no longer than turns do. */
const settled = (reading: Promise<void>): Promise<void> => within(reading, undefined);

const hasUnits = ({ limits }: BudgetRow, wanted: Demand, wantedPer?: "now"): boolean =>
  LimitName.options.some((name) => {
    const { unit, per } = MEASURES[name];
    return limits[name] !== undefined && unit in wanted && (!wantedPer || per === wantedPer);
  });
const toAmounts = ({ bytes = 0, documents = 0, runs = 0 }: Demand): Amounts => ({
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

/** Only budgets that concern a spender. */
const concerning = (reading: Reading, subjects: string[]): Reading => ({
  ...reading,
  budgets: reading.budgets.filter((budget) => countedAs(budget, subjects) !== undefined),
});

/** What users reach is no event, and finding the one that has most takes long. */
const withoutUsers = (reading: Reading): Reading => ({
  ...reading,
  budgets: reading.budgets.filter(({ subject }) => !isEachUser(subject)),
});

/** Reads what budgets leave, shared by all turns of an organization in this process. */
export function watchBudgets(options: WatchOptions): BudgetWatch {
  const tell = createReporter(options);
  const readings = createReadings(options, tell);
  const holdings = createHoldings(options);

  const withHeld = (organization: string, reading: Reading) => ({ ...reading, held: holdings.sums(organization) });
  /** Near a limit the sums are read again: what was deleted or has ended must make room, and other processes admit, too. */
  async function readHeld(organization: string, reached: () => ReachedLimit[]): Promise<void> {
    await settled(holdings.recent(organization));
    if (reached().some(({ ends_at }) => ends_at === null)) await settled(holdings.fresh(organization));
  }

  return {
    check: async (spender) => reachedInTurn(await readings.recent(spender.organization_id), spender),
    async admit(spender, demand) {
      const { organization_id } = spender;
      const subjects = subjectsOf(spender);
      const concerned = concerning(await readings.recent(organization_id), subjects);
      const wanted = withMoney(demand, concerned);
      if (!concerned.budgets.some((budget) => hasUnits(budget, wanted))) return { admitted: UNLIMITED };
      const reached = (more: Demand) => reachedBy(withHeld(organization_id, concerned), subjects, more);
      if (concerned.budgets.some((budget) => hasUnits(budget, wanted, "now")))
        await readHeld(organization_id, () => reached(wanted));
      // from here on without waiting, so that no other request gets the same room
      const [limit] = reached(wanted);
      if (limit?.refuses) return { refused: limit };
      const added = holdings.add(organization_id, subjects, toAmounts(wanted));
      const report = () =>
        tell(organization_id, reachedLimits(statusesOf(withHeld(organization_id, withoutUsers(concerned)))));
      const nothing = Object.fromEntries(Object.keys(wanted).map((unit) => [unit, 0]));
      return { admitted: toAdmission(added, () => reached(nothing)[0], report) };
    },
    note: tell,
    noteEnd: readings.lookLater,
    reading: readings.lastOf,
    async concerning(spender) {
      const { organization_id } = spender;
      const { budgets, at, ...figures } = await readings.recent(organization_id);
      if (!hasHeld(budgets)) return statusesFor(budgets, figures, spender, new Date(at));
      await settled(holdings.recent(organization_id));
      const held = holdings.sums(organization_id);
      return statusesFor(budgets, { ...figures, held }, spender, new Date(at));
    },
    async fresh(organization) {
      const reading = await readings.whole(organization);
      if (!hasHeld(reading.budgets)) return statusesOf(reading);
      await holdings.fresh(organization);
      return statusesOf(withHeld(organization, reading));
    },
  };
}
