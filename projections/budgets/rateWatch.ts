import { currentTime } from "#events/clock.ts";
import { fromPicodollars, toPicodollars, type Money } from "#events/money.ts";
import type { BudgetStep } from "#events/budget.ts";
import type { TurnSpending } from "#events/turnEnd.ts";
import { growHold, type HoldAnswer, type WantedHold } from "./growHold.ts";
import { decideMoney, moneyLimitsOf, presentMoneyLimit, type MoneyLimit } from "./moneyLimits.ts";
import type { BudgetRow } from "./query.ts";
import { rateRefusal, reservedRefusal, type RateRefusal } from "./rateRefusal.ts";
import {
  addedBy,
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
import { NO_HOLD, type Hold } from "./reservations.ts";
import { limitsOfSpender, type SpenderLimits } from "./spenderLimits.ts";
import type { Spender } from "./subjects.ts";
import { TurnCounts } from "./turnCounts.ts";
import { TurnFollower, type FollowerOptions } from "./turnFollower.ts";
import type { SpentLimit } from "./limits.ts";
import type { Reading } from "./figures.ts";

/** A share that is given out is renewed by the other processes' answers; after this time the process decides alone. */
const MAX_WAIT_MS = 5_000;

/** A turn that may begin. */
export interface Admission {
  /** OpenAI's headers of what is left. */
  headers: Record<string, string>;
  /** Limits that it has brought to 80 % or more. */
  reached: BudgetStep[];
  /** It did not begin. */
  withdraw(): void;
  /** It ended, with the event at this position of the log, where that is known. */
  end(spending: TurnSpending, position?: number): void;
  /** US dollars that are held back for it; absent: no budget of money concerns it. */
  reserved?: Money;
}
/** `spent`: a budget of money is used up. */
export type RateAnswer = { admitted: Admission } | { refused: RateRefusal } | { spent: SpentLimit };

export interface RateWatch {
  /** Whether a turn may begin now. Where no limit of a minute, a moment or money applies, it may, and nothing is counted. */
  admit(reading: LimitReading, spender: Spender, turn: WantedTurn): Promise<RateAnswer>;
  /** Whether the next request of a turn under way fits. Its hold grows at once, in all processes. */
  hold(reading: LimitReading, spender: Spender, turn: WantedHold): Promise<HoldAnswer>;
  /** A turn waits for a person: what it held back is free at once, in all processes. */
  park(reading: LimitReading, spender: Spender, turn: ParkedTurn): Promise<void>;
  /** A turn goes on after it waited: it counts as under way again, also where a limit is reached. */
  resume(reading: LimitReading, spender: Spender, turn: ResumedTurn): Promise<void>;
  /** What is held back for a turn under way, as far as this process knows. */
  heldBack(organization: string, turn_id: string): Hold;
  /** Turns whose money is held back, and ended ones of which it does not know where in the log they ended. */
  unsettled(organization: string): string[];
  /** Those of these budgets that concern a spender, with what is used of them now. */
  concerning(budgets: BudgetRow[], spender: Spender): Promise<PresentedRate[]>;
  /** All limits of a minute or a moment, with what is used of them now. */
  fresh(organization: string, budgets: BudgetRow[]): Promise<PresentedRate[]>;
  close(): void;
}

const UNLIMITED: Admission = { headers: {}, reached: [], withdraw: () => {}, end: () => {} };
const NOBODY = new TurnCounts();

/** The budgets, and what was spent of them. */
export type LimitReading = Pick<Reading, "budgets" | "spending">;

interface WantedTurn {
  turn_id: string;
  /** An estimate. */
  tokens: number;
  streamed: boolean;
  /** The most that one request of it may cost, in picodollars. */
  cost: bigint;
}

interface ParkedTurn {
  turn_id: string;
  /** That has ended with it. */
  attempt: number;
  /** What its rounds have cost, in picodollars; undefined: no budget of money concerns it. */
  spent: bigint | undefined;
}

interface ResumedTurn {
  turn_id: string;
  attempt: number;
  streamed: boolean;
}

/** Whether turns of a spender are counted, and which limits concern them. */
function countedLimits({ budgets, spending }: LimitReading, spender: Spender): SpenderLimits | undefined {
  const limits = limitsOfSpender(budgets, spender);
  return limits.rates.length > 0 || (spending !== undefined && limits.money.length > 0) ? limits : undefined;
}

/** What a turn that may not begin is answered, undefined where it may. */
function refusalOf(turns: TurnFollower, { rates, limits, now }: Applying, turn: WantedTurn) {
  const added = addedBy(turn);
  const money = decideMoney(limits, turn.cost, turns.share(now));
  if (money.kind === "spent") return { spent: presentMoneyLimit(money.by, now) };
  const rate = decideRates(rates, added, turns.share(now));
  if (rate.kind === "refuse") return { refused: rateRefusal(turns.counts, rate.by, { rates, added, now }) };
  if (money.kind === "reserved") return { refused: reservedRefusal(presentMoneyLimit(money.by, now)) };
  return money.kind === "wait" || rate.kind === "wait" ? "wait" : undefined;
}

/** The limits that a turn counts for, at a moment. */
interface Applying {
  rates: RateStatus[];
  limits: MoneyLimit[];
  now: number;
}

interface Concerning {
  spending: LimitReading["spending"];
  limits: SpenderLimits;
}

/** Decides once this process's share suffices. An admitted turn counts in the same tick, so that no other one gets its place. */
async function decide(turns: TurnFollower, { spending, limits }: Concerning, turn: WantedTurn) {
  const { turn_id, tokens, streamed, cost } = turn;
  const { subjects } = limits;
  const added = addedBy(turn);
  for (const giveUpAt = currentTime() + MAX_WAIT_MS; ; await turns.renew()) {
    const now = currentTime();
    if (spending) turns.reservations.apply(spending, now);
    const rates = ratesOf(limits.rates, turns.counts, now);
    const money = moneyLimitsOf(limits.money, turns.reservations, now);
    const refused = refusalOf(turns, { rates, limits: money, now }, turn);
    if (refused === "wait" && now <= giveUpAt) continue;
    if (refused !== undefined && refused !== "wait") return refused;
    turns.giveOut(rates, added);
    turns.reserve(money, cost);
    const reserved = money.length > 0 && { reserved: String(cost) };
    turns.tell({ kind: "began", turn_id, subjects, tokens, streamed, ...reserved });
    countTurn(rates, added);
    const told = { headers: rateHeaders(rates, turns.counts, now), reached: reachedRates(rates, now) };
    return { ...told, ...(reserved && { reserved: fromPicodollars(cost) }) };
  }
}

/** How an admitted turn goes on. */
const outcomes = (turns: TurnFollower, { turn_id }: WantedTurn): Pick<Admission, "withdraw" | "end"> => ({
  withdraw: () => turns.tell({ kind: "withdrawn", turn_id }),
  end({ tokens, cost }, position) {
    const known = {
      ...(cost && { cost: String(toPicodollars(cost)) }),
      ...(position !== undefined && { position }),
    };
    turns.tell({ kind: "ended", turn_id, tokens, ...known });
  },
});

/**
 * Counts the turns of organizations with limits. Processes tell each other of the turns that they start, and each gives out no
 * more than its share of what is left before it has heard of the others: no turn waits for another process, except near a limit.
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
      const turns = await follow(spender.organization_id, reading.budgets);
      const decided = await decide(turns, { spending: reading.spending, limits }, turn);
      return "headers" in decided ? { admitted: { ...decided, ...outcomes(turns, turn) } } : decided;
    },
    async hold({ budgets, spending }, spender, turn) {
      const limits = limitsOfSpender(budgets, spender);
      if (!spending || limits.money.length === 0) return "held";
      return growHold(await follow(spender.organization_id), { spending, limits }, turn);
    },
    async park(reading, spender, { spent, ...turn }) {
      const limits = countedLimits(reading, spender);
      if (!limits) return;
      const { subjects } = limits;
      const turns = await follow(spender.organization_id);
      turns.tell({ kind: "parked", ...turn, subjects, ...(spent !== undefined && { spent: String(spent) }) });
    },
    async resume(reading, spender, turn) {
      const limits = countedLimits(reading, spender);
      if (!limits) return;
      const turns = await follow(spender.organization_id);
      turns.tell({ kind: "resumed", ...turn, subjects: limits.subjects });
    },
    heldBack: (organization, turn_id) => followers.get(organization)?.reservations.heldBack(turn_id) ?? NO_HOLD,
    unsettled: (organization) => followers.get(organization)?.reservations.askedTurns() ?? [],
    async concerning(budgets, spender) {
      const limits = rateLimitsFor(budgets, spender);
      if (limits.length === 0) return [];
      return presentRates(limits, (await follow(spender.organization_id)).counts, currentTime());
    },
    async fresh(organization, budgets) {
      if (allRates(budgets, NOBODY, 0).length === 0) return [];
      return allRates(budgets, (await follow(organization, budgets)).counts, currentTime());
    },
    close() {
      for (const turns of followers.values()) turns.close();
      followers.clear();
    },
  };
}
