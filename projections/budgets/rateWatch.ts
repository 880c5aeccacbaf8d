import { currentTime } from "#events/clock.ts";
import { fromPicodollars, toPicodollars, type Money } from "#events/money.ts";
import type { BudgetStep } from "#events/budget.ts";
import type { TurnSpending } from "#events/turnEnd.ts";
import { growReservation, type ReservationAnswer, type WantedReservation } from "./growReservation.ts";
import { decideMoney, moneyLimitsOf, presentMoneyLimit, type MoneyLimit } from "./moneyLimits.ts";
import type { BudgetRow } from "./query.ts";
import { rateRefusal, reservedRefusal, type RateRefusal } from "./rateRefusal.ts";
import {
  rateUsageOfTurn,
  allRates,
  countTurn,
  decideRates,
  presentRates,
  rateHeaders,
  rateLimitsFor,
  ratesOf,
  reachedRates,
  type PresentedRate,
  type RateStatus,
} from "./rates.ts";
import { NO_RESERVATION, type Reservation } from "./reservations.ts";
import { limitsOfSpender, type SpenderLimits } from "./spenderLimits.ts";
import type { Spender } from "./subjects.ts";
import { TurnCounts, type RateUsage } from "./turnCounts.ts";
import { TurnFollower, type FollowerOptions } from "./turnFollower.ts";
import type { SpentLimit } from "./limits.ts";
import type { BudgetReading } from "./figures.ts";

/** Maximum wait for a new share, which needs answers of the other processes. Afterwards the process decides alone. */
const MAX_WAIT_MS = 5_000;

/** A turn that may begin. */
export interface TurnAdmission {
  /** Headers like OpenAI's with the remaining amounts. */
  headers: Record<string, string>;
  /** Limits that it has brought to at least 80 %. */
  reached: BudgetStep[];
  /** Reports that the turn did not begin. */
  withdraw(): void;
  /** Reports that the turn ended, with the log position of its last event if known. */
  end(spending: TurnSpending, position?: number): void;
  /** US dollars reserved for it; absent: no budget of money applies. */
  reserved?: Money;
}
/** `spent`: a budget of money is used up. */
export type RateAnswer = { admitted: TurnAdmission } | { refused: RateRefusal } | { spent: SpentLimit };

export interface RateWatch {
  /** Decides whether a turn may begin now. Without limits per minute, on concurrency or of money, it may, and nothing is counted. */
  admit(reading: LimitReading, spender: Spender, turn: WantedTurn): Promise<RateAnswer>;
  /** Decides whether the next request of a running turn fits. Its reservation grows at once in all processes. */
  growReservation(reading: LimitReading, spender: Spender, turn: WantedReservation): Promise<ReservationAnswer>;
  /** Reports that a turn waits for a person. Its reservation is released at once in all processes. */
  park(reading: LimitReading, spender: Spender, turn: ParkedTurn): Promise<void>;
  /** Reports that a turn continues after waiting. It counts as running again, even if a limit is reached. */
  resume(reading: LimitReading, spender: Spender, turn: ResumedTurn): Promise<void>;
  /** The reservation of a running turn, as far as this process knows. */
  reservationOf(organization: string, turn_id: string): Reservation;
  /** Ids of turns with a reservation, and of ended turns whose last log position is unknown. */
  unsettled(organization: string): string[];
  /** The limits of these budgets that apply to a spender, with their current use. */
  statusesFor(budgets: BudgetRow[], spender: Spender): Promise<PresentedRate[]>;
  /** All limits per minute or on concurrency, with their current use. */
  statuses(organization: string, budgets: BudgetRow[]): Promise<PresentedRate[]>;
  close(): void;
}

const UNLIMITED: TurnAdmission = { headers: {}, reached: [], withdraw: () => {}, end: () => {} };
const NO_COUNTS = new TurnCounts();

/** The budgets and their spending. */
export type LimitReading = Pick<BudgetReading, "budgets" | "spending">;

interface WantedTurn {
  turn_id: string;
  /** Estimated. */
  tokens: number;
  streamed: boolean;
  /** The maximum cost of one of its requests, in picodollars. */
  cost: bigint;
}

interface ParkedTurn {
  turn_id: string;
  /** The attempt that has ended with it. */
  attempt: number;
  /** The cost of its rounds in picodollars; undefined: no budget of money applies. */
  spent: bigint | undefined;
}

interface ResumedTurn {
  turn_id: string;
  attempt: number;
  streamed: boolean;
}

/** The limits that apply to a spender; undefined if its turns are not counted. */
function countedLimits({ budgets, spending }: LimitReading, spender: Spender): SpenderLimits | undefined {
  const limits = limitsOfSpender(budgets, spender);
  return limits.rates.length > 0 || (spending !== undefined && limits.money.length > 0) ? limits : undefined;
}

const NO_RATES = { kind: "admit" } as const;

/** The refusal of a turn that may not begin; undefined if it may. */
function refusalOf(turns: TurnFollower, { rates, limits, added, now }: CurrentLimits, turn: WantedTurn) {
  const share = turns.share(now);
  const money = decideMoney(limits, turn.cost, share, now);
  if (money.kind === "spent") return { spent: presentMoneyLimit(money.by, now) };
  const rate = rates.length === 0 ? NO_RATES : decideRates(rates, added, share);
  if (rate.kind === "refuse") return { refused: rateRefusal(turns.counts, rate.by, { rates, added, now }) };
  if (money.kind === "reserved") return { refused: reservedRefusal(presentMoneyLimit(money.by, now)) };
  return money.kind === "wait" || rate.kind === "wait" ? "wait" : undefined;
}

/** The limits that apply to a turn at a moment. */
interface CurrentLimits {
  rates: RateStatus[];
  limits: MoneyLimit[];
  /** What the turn adds to rates. */
  added: RateUsage;
  now: number;
}

interface SpenderReading {
  spending: LimitReading["spending"];
  limits: SpenderLimits;
}

/** What the answer to an admitted turn shows of its limits per minute and on concurrency. */
function describeRates(
  rates: RateStatus[],
  counts: TurnCounts,
  now: number,
): Pick<TurnAdmission, "headers" | "reached"> {
  if (rates.length === 0) return { headers: {}, reached: [] };
  return { headers: rateHeaders(rates, counts, now), reached: reachedRates(rates, now) };
}

/**
 * Decides about a turn now. `wait`: this process's share does not suffice; never if the turn `hasWaited`. An admitted turn is counted
 * in the same tick, so that no other takes its place. Called for every turn: money alone goes no way through the rates.
 */
function decide(turns: TurnFollower, { spending, limits }: SpenderReading, turn: WantedTurn, hasWaited: boolean) {
  const now = currentTime();
  const { turn_id, tokens, streamed, cost } = turn;
  const added = rateUsageOfTurn(turn);
  if (spending) turns.reservations.apply(spending, now);
  const rates = ratesOf(limits.rates, turns.counts, now);
  const money = moneyLimitsOf(limits.money, turns.reservations, now);
  const refused = refusalOf(turns, { rates, limits: money, added, now }, turn);
  if (refused !== undefined && !(refused === "wait" && hasWaited)) return refused;
  const used = turns.usedShare();
  used?.countTurn(rates, added);
  used?.countMoney(money, cost);
  const began = { turn_id, subjects: limits.subjects, tokens, streamed, isRated: rates.length > 0 };
  turns.begin(money.length > 0 ? { ...began, reserved: cost } : began, now);
  countTurn(rates, added);
  const answer = describeRates(rates, turns.counts, now);
  return money.length > 0 ? { ...answer, reserved: fromPicodollars(cost) } : answer;
}

/** Decides once this process has a share that suffices. */
async function decideLater(turns: TurnFollower, current: SpenderReading, turn: WantedTurn) {
  const giveUpAt = currentTime() + MAX_WAIT_MS;
  for (;;) {
    await turns.renew();
    const decided = decide(turns, current, turn, currentTime() > giveUpAt);
    if (decided !== "wait") return decided;
  }
}

/** What may happen with an admitted turn. */
const outcomes = (turns: TurnFollower, { turn_id }: WantedTurn): Pick<TurnAdmission, "withdraw" | "end"> => ({
  withdraw: () => turns.announce({ kind: "withdrawn", turn_id }),
  end({ tokens, cost }, position) {
    turns.end(turn_id, { tokens, cost: cost === undefined ? cost : toPicodollars(cost), position });
  },
});

/**
 * Counts the turns of organizations with limits. Processes announce to each other the turns that they start. Until the others
 * have answered, a process admits at most its share of what is left. So turns wait for other processes only near a limit.
 */
export function watchRates(options: FollowerOptions): RateWatch {
  const followers = new Map<string, TurnFollower>();

  async function follow(organization: string, budgets?: BudgetRow[]): Promise<TurnFollower> {
    const onIdle = () => followers.delete(organization);
    const turns = followers.get(organization) ?? new TurnFollower(options, { organization, onIdle });
    followers.set(organization, turns);
    await turns.ready;
    if (budgets) await turns.newLimits.follow(budgets);
    return turns;
  }

  return {
    async admit(reading, spender, turn) {
      const limits = countedLimits(reading, spender);
      if (!limits) return { admitted: UNLIMITED };
      const known = followers.get(spender.organization_id);
      const turns = known?.hasCounted(reading.budgets) ? known : await follow(spender.organization_id, reading.budgets);
      const current = { spending: reading.spending, limits };
      const now = decide(turns, current, turn, false);
      const decided = now === "wait" ? await decideLater(turns, current, turn) : now;
      return "headers" in decided ? { admitted: { ...decided, ...outcomes(turns, turn) } } : decided;
    },
    async growReservation({ budgets, spending }, spender, turn) {
      const limits = limitsOfSpender(budgets, spender);
      if (!spending || limits.money.length === 0) return "held";
      return growReservation(await follow(spender.organization_id), { spending, limits }, turn);
    },
    async park(reading, spender, { spent, ...turn }) {
      const limits = countedLimits(reading, spender);
      if (!limits) return;
      const { subjects } = limits;
      const turns = await follow(spender.organization_id);
      turns.announce({ kind: "parked", ...turn, subjects, ...(spent !== undefined && { spent: String(spent) }) });
    },
    async resume(reading, spender, turn) {
      const limits = countedLimits(reading, spender);
      if (!limits) return;
      const turns = await follow(spender.organization_id);
      turns.announce({ kind: "resumed", ...turn, subjects: limits.subjects });
    },
    reservationOf: (organization, turn_id) =>
      followers.get(organization)?.reservations.reservationOf(turn_id) ?? NO_RESERVATION,
    unsettled: (organization) => followers.get(organization)?.reservations.turnsToLookUp() ?? [],
    async statusesFor(budgets, spender) {
      const limits = rateLimitsFor(budgets, spender);
      if (limits.length === 0) return [];
      return presentRates(limits, (await follow(spender.organization_id)).counts, currentTime());
    },
    async statuses(organization, budgets) {
      if ((await allRates(budgets, NO_COUNTS, 0)).length === 0) return [];
      return allRates(budgets, (await follow(organization, budgets)).counts, currentTime());
    },
    close() {
      for (const turns of followers.values()) turns.close();
      followers.clear();
    },
  };
}
