import { setTimeout as sleep } from "node:timers/promises";
import { currentTime } from "#events/clock.ts";
import { toPicodollars } from "#events/money.ts";
import { payerOf } from "#events/runOrigin.ts";
import { describeLimit } from "#projections/budgets/limits.ts";
import { reserveFor } from "#projections/budgets/reserve.ts";
import type { Spender } from "#projections/budgets/subjects.ts";
import type { BudgetWatch } from "#projections/budgets/watch.ts";
import { LimitReached, type ReserveMoney, type TurnBudgets } from "#services/turns/turnBudgets.ts";
import type { TurnToRun } from "#services/turns/turnToRun.ts";
import type { Resources } from "./resources.ts";

/**
 * How long a request waits for running turns to free budget. Short for a first request, which the client can repeat; longer for
 * later ones, because what precedes them is paid.
 */
const MAX_WAIT_MS = { first: 2_000, later: 10_000 };
const LOOK_MS = 250;
/** Poll interval if running turns must end first, at an unknown time. */
const RETRY_MS = 1_000;

const spenderOf = (turn: TurnToRun): Spender => ({
  organization_id: turn.organization_id,
  // the service itself starts the turns of runs
  principal: turn.principal === "system" ? payerOf(turn.asked_by) : turn.principal,
  project_id: turn.project_id,
  agent_id: turn.agent?.agent_id ?? null,
  user_mark: turn.user_mark,
  model: turn.model,
});

/** Lets a turn's reservation grow before each of its requests, by the organization's budgets and prices. */
const createReserveMoney =
  (rates: Resources["rates"], budgets: BudgetWatch): ReserveMoney =>
  async (turn, { size, spent: spentBefore, isFirst }, signal) => {
    const { organization_id, turn_id, attempt } = turn;
    const held = turn.wasParked ? 0n : toPicodollars(turn.reserved ?? "0");
    const spent = toPicodollars(spentBefore);
    // two turns that wait for each other must not give up at the same moment
    const giveUpAt = performance.now() + MAX_WAIT_MS[isFirst ? "first" : "later"] * (0.5 + Math.random() / 2);
    for (;;) {
      const reading = await budgets.recent(organization_id);
      const cost = reading.priceOf ? reserveFor(reading.priceOf, turn.route?.targets ?? [turn.model], size) : 0n;
      // requests of a lost worker were not reserved
      if (isFirst && spent === 0n && cost <= held) return;
      const answer = await rates.growReservation(reading, spenderOf(turn), { turn_id, attempt, held, spent, cost });
      if (answer === "held") return;
      if ("spent" in answer) {
        const { ends_at } = answer.spent;
        const retry_after_ms = ends_at ? Math.max(1, ends_at.getTime() - currentTime()) : undefined;
        throw new LimitReached("budget_exceeded", describeLimit(answer.spent), retry_after_ms);
      }
      if (performance.now() > giveUpAt) throw new LimitReached("budget_reserved", answer.reserved, RETRY_MS);
      await sleep(LOOK_MS, undefined, { signal });
    }
  };

/** The budgets and limits that count the turns of this process. */
export function openTurnBudgets({ rates }: Pick<Resources, "rates">, budgets: BudgetWatch): TurnBudgets {
  return {
    reserveMoney: createReserveMoney(rates, budgets),
    async notePark(turn, cost) {
      const { organization_id, turn_id, attempt, reserved } = turn;
      const reading = await budgets.recent(organization_id);
      const spent = reserved === null ? undefined : toPicodollars(cost);
      await rates.park(reading, spenderOf(turn), { turn_id, attempt, spent });
    },
    async noteResume(turn) {
      const { organization_id, turn_id, attempt, streamed } = turn;
      const reading = await budgets.recent(organization_id);
      await rates.resume(reading, spenderOf(turn), { turn_id, attempt, streamed });
    },
  };
}
