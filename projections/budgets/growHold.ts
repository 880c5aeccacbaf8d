import { currentTime } from "#events/clock.ts";
import type { SpentLimit } from "./limits.ts";
import { decideMoney, describeReserved, moneyLimitsOf, presentMoneyLimit } from "./moneyLimits.ts";
import type { Share } from "./rates.ts";
import { larger, type Spending } from "./reservations.ts";
import type { SpenderLimits } from "./spenderLimits.ts";
import { NO_RATES } from "./turnCounts.ts";
import type { TurnFollower } from "./turnFollower.ts";

/** The next request of a turn under way. Amounts are picodollars. */
export interface WantedHold {
  turn_id: string;
  attempt: number;
  /** What was held back for it before its first request; nothing of one that was parked. */
  held: bigint;
  /** What its rounds have cost. */
  spent: bigint;
  /** The most that the request may cost. */
  cost: bigint;
}

/** `spent`: the budget is used up. `reserved`: turns under way hold the rest, in words. */
export type HoldAnswer = "held" | { spent: SpentLimit } | { reserved: string };

/** As long as a turn waits for the answers of other processes near a limit. */
const MAX_WAIT_MS = 5_000;
/** A request that needs no more than is held back takes nothing from the share of this process. */
const NO_SHARE_NEEDED: Share = { processes: 1, admitted: () => NO_RATES, reserved: () => 0n };

/**
 * Decides about the next request of a turn as about a new turn, without what the turn itself holds: a request that alone does not fit
 * goes on when nothing is held back for others. So the requests of a turn pass a limit by one of them at most.
 */
export async function growHold(
  turns: TurnFollower,
  { spending, limits: { subjects, money } }: { spending: Spending; limits: SpenderLimits },
  { turn_id, attempt, held, spent, cost }: WantedHold,
): Promise<HoldAnswer> {
  const { reservations } = turns;
  const tell = (reserved: bigint) =>
    turns.tell({ kind: "grew", turn_id, subjects, attempt, reserved: String(reserved), spent: String(spent) });
  reservations.apply(spending, currentTime());
  // what its rounds cost is spent, whatever is decided; what an attempt before it held is its own
  tell(larger(held, reservations.heldBack(turn_id).reserved));
  for (const giveUpAt = currentTime() + MAX_WAIT_MS; ; await turns.renew()) {
    const now = currentTime();
    reservations.apply(spending, now);
    const own = reservations.heldBack(turn_id).reserved;
    const limits = moneyLimitsOf(money, reservations, now).map((limit) => ({
      ...limit,
      reserved: limit.reserved > own ? limit.reserved - own : 0n,
    }));
    const decision = decideMoney(limits, cost, cost > own ? turns.share(now) : NO_SHARE_NEEDED);
    if (decision.kind === "spent") return { spent: presentMoneyLimit(decision.by, now) };
    if (decision.kind === "reserved") return { reserved: describeReserved(presentMoneyLimit(decision.by, now)) };
    if (decision.kind === "wait" && now <= giveUpAt) continue;
    if (cost > own) {
      turns.reserve(limits, cost - own);
      tell(cost);
    }
    return "held";
  }
}
