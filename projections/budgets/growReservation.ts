import { currentTime } from "#events/clock.ts";
import type { SpentLimit } from "./limits.ts";
import { decideMoney, describeReserved, moneyLimitsOf, presentMoneyLimit } from "./moneyLimits.ts";
import type { ProcessShare } from "./rates.ts";
import { maxBigInt, type Spending } from "./reservations.ts";
import type { SpenderLimits } from "./spenderLimits.ts";
import { NO_RATE_USAGE } from "./turnCounts.ts";
import type { TurnFollower } from "./turnFollower.ts";

/** The next request of a running turn. Amounts are in picodollars. */
export interface WantedReservation {
  turn_id: string;
  attempt: number;
  /** The amount reserved before its first request; 0 for a turn that was parked. */
  held: bigint;
  /** The cost of its rounds. */
  spent: bigint;
  /** The maximum cost of the request. */
  cost: bigint;
}

/** `spent`: the budget is used up. `reserved`: running turns have reserved the rest; text for people. */
export type ReservationAnswer = "held" | { spent: SpentLimit } | { reserved: string };

/** Maximum time that a turn near a limit waits for the answers of other processes. */
const MAX_WAIT_MS = 5_000;
/** The share of a request that needs no more than its turn has reserved. It uses nothing of this process's share. */
const NO_SHARE_NEEDED: ProcessShare = { processes: 1, admitted: () => NO_RATE_USAGE, reserved: () => 0n };

/**
 * Decides about a turn's next request like about a new turn, ignoring the turn's own reservation. A request that does not fit by
 * itself is allowed if nothing is reserved for others. So a turn's requests exceed a limit by at most one of them.
 */
export async function growReservation(
  turns: TurnFollower,
  { spending, limits: { subjects, money } }: { spending: Spending; limits: SpenderLimits },
  { turn_id, attempt, held, spent, cost }: WantedReservation,
): Promise<ReservationAnswer> {
  const { reservations } = turns;
  const announceReservation = (reserved: bigint) =>
    turns.announce({ kind: "grew", turn_id, subjects, attempt, reserved: String(reserved), spent: String(spent) });
  reservations.apply(spending, currentTime());
  // the cost of its rounds is spent, whatever is decided, and the reservation of an earlier attempt is its own
  if (!reservations.includes(turn_id, { attempt, reserved: held, spent }))
    announceReservation(maxBigInt(held, reservations.reservationOf(turn_id).reserved));
  for (const giveUpAt = currentTime() + MAX_WAIT_MS; ; await turns.renew()) {
    const now = currentTime();
    reservations.apply(spending, now);
    const own = reservations.reservationOf(turn_id).reserved;
    const limits = moneyLimitsOf(money, reservations, now).map((limit) => ({
      ...limit,
      reserved: limit.reserved > own ? limit.reserved - own : 0n,
    }));
    const decision = decideMoney(limits, cost, cost > own ? turns.share(now) : NO_SHARE_NEEDED, now);
    if (decision.kind === "spent") return { spent: presentMoneyLimit(decision.by, now) };
    if (decision.kind === "reserved") return { reserved: describeReserved(presentMoneyLimit(decision.by, now)) };
    if (decision.kind === "wait" && now <= giveUpAt) continue;
    if (cost > own) {
      turns.usedShare()?.countMoney(limits, cost - own);
      announceReservation(cost);
    }
    return "held";
  }
}
