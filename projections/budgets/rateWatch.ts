import type { BudgetRow } from "./query.ts";
import { addedBy, allRates, decideRates, describeRate, rateHeaders, ratesOf, type RateStatus } from "./rates.ts";
import { subjectsOf, type Spender } from "./status.ts";
import { TurnCounts } from "./turnCounts.ts";
import { TurnFollower, type FollowerOptions } from "./turnFollower.ts";

/** A share that is given out is renewed by the other processes' answers; after this time the process decides alone. */
const MAX_WAIT_MS = 5_000;
/** Where turns under way must end first, nobody knows when. */
const MIN_RETRY_MS = 1_000;

/** A turn that may begin. */
export interface Admission {
  /** OpenAI's headers of what is left. */
  headers: Record<string, string>;
  /** It did not begin. */
  withdraw(): void;
  /** It ended, with the tokens that it took. */
  end(tokens: number): void;
}
export interface RateRefusal {
  message: string;
  retry_after_ms: number;
  headers: Record<string, string>;
}
export type RateAnswer = { admitted: Admission } | { refused: RateRefusal };

export interface RateWatch {
  /** Whether a turn may begin now. Where no limit of a minute or a moment applies, it may, and nothing is counted. */
  admit(budgets: BudgetRow[], spender: Spender, turn: WantedTurn): Promise<RateAnswer>;
  /** All limits of a minute or a moment, with what is used of them now. */
  fresh(organization: string, budgets: BudgetRow[]): Promise<RateStatus[]>;
  close(): void;
}

const UNLIMITED: Admission = { headers: {}, withdraw: () => {}, end: () => {} };
const NOBODY = new TurnCounts();

interface WantedTurn {
  turn_id: string;
  /** An estimate. */
  tokens: number;
}

/** Decides once this process's share suffices. An admitted turn counts in the same tick, so that no other one gets its place. */
async function decide(turns: TurnFollower, budgets: BudgetRow[], spender: Spender, { turn_id, tokens }: WantedTurn) {
  for (const giveUpAt = Date.now() + MAX_WAIT_MS; ; await turns.renew()) {
    const now = Date.now();
    const rates = ratesOf(budgets, spender, turns.counts, now);
    const decision = decideRates(rates, tokens, turns.share(now));
    if (decision.kind === "wait" && now <= giveUpAt) continue;
    if (decision.kind === "refuse") return refusal(turns, decision.by, rates, now, tokens);
    turns.giveOut(rates, tokens);
    turns.tell({ kind: "began", turn_id, subjects: subjectsOf(spender), tokens });
    return { headers: rateHeaders(ratesOf(budgets, spender, turns.counts, now), now) };
  }
}

function refusal({ counts }: TurnFollower, by: RateStatus, rates: RateStatus[], now: number, tokens: number) {
  const over = by.used + addedBy(tokens)[by.name] - by.at_most;
  const refused: RateRefusal = {
    message: describeRate(by),
    retry_after_ms: Math.max(MIN_RETRY_MS, counts.freeIn(by.counted, by.name, over, now)),
    headers: rateHeaders(rates, now),
  };
  return { refused };
}

/**
 * Counts the turns of organizations with limits. Processes tell each other of the turns that they start, and each gives out no
 * more than its share of what is left before it has heard of the others: no turn waits for another process, except near a limit.
 */
export function watchRates(options: FollowerOptions): RateWatch {
  const followers = new Map<string, TurnFollower>();

  async function follow(organization: string): Promise<TurnFollower> {
    const onIdle = () => followers.delete(organization);
    const turns = followers.get(organization) ?? new TurnFollower(options, { organization, onIdle });
    followers.set(organization, turns);
    await turns.ready;
    return turns;
  }

  return {
    async admit(budgets, spender, turn) {
      if (ratesOf(budgets, spender, NOBODY, 0).length === 0) return { admitted: UNLIMITED };
      const turns = await follow(spender.organization_id);
      const decided = await decide(turns, budgets, spender, turn);
      if ("refused" in decided) return decided;
      const { turn_id } = turn;
      const withdraw = () => turns.tell({ kind: "withdrawn", turn_id });
      const end = (tokens: number) => turns.tell({ kind: "ended", turn_id, tokens });
      return { admitted: { ...decided, withdraw, end } };
    },
    async fresh(organization, budgets) {
      if (allRates(budgets, NOBODY, 0).length === 0) return [];
      return allRates(budgets, (await follow(organization)).counts, Date.now());
    },
    close() {
      for (const turns of followers.values()) turns.close();
      followers.clear();
    },
  };
}
