import {
  BudgetReached,
  BudgetRemoved,
  BudgetSet,
  type BudgetAlert,
  type BudgetCommand,
  type BudgetEvent,
  type BudgetStep,
} from "#events/budget.ts";
import type { Decider } from "#events/decider.ts";
import { Rejection } from "#events/rejection.ts";

interface ReportedStep {
  period: string;
  percent: number;
  at_most: string;
  /** Limits reported before this one since the budget was set. Processes that learn of the budget later may report them again. */
  former?: string[];
}
export type BudgetState =
  | { status: "absent" }
  /** `reported`: for each limit, the highest step reached in the newest period with a report. */
  | { status: "set"; reported: Partial<Record<BudgetStep["limit"], ReportedStep>>; alert?: BudgetAlert | undefined };

/** Setting a limit again may bring back a former one. */
const forgetFormer = ({ reported }: Extract<BudgetState, { status: "set" }>) =>
  Object.fromEntries(Object.entries(reported).map(([limit, step]) => [limit, { ...step, former: [] }]));

export const budget: Decider<BudgetState, BudgetCommand, BudgetEvent> = {
  version: 3,
  initial: { status: "absent" },
  decide(command, state) {
    switch (command.type) {
      case "SetBudget":
        return [BudgetSet.of(command.data)];
      case "RemoveBudget":
        if (state.status === "absent") throw new Rejection("budget_not_found", "No budget of this subject is set.");
        return [BudgetRemoved.of(command.data)];
      case "NoteBudgetReached": {
        if (state.status === "absent") return [];
        const { limit, period, percent, at_most } = command.data;
        const before = state.reported[limit];
        const isKnown = before?.period === period && before.at_most === at_most && before.percent >= percent;
        // a process with old figures may still be in the previous period
        const isPast = before !== undefined && before.period > period;
        const isFormer = before?.period === period && before.former?.includes(at_most) === true;
        const { alert } = state;
        return isKnown || isPast || isFormer ? [] : [BudgetReached.of({ ...command.data, ...(alert && { alert }) })];
      }
    }
  },
  evolve(state, event) {
    switch (event.type) {
      case "BudgetSet":
        return { status: "set", reported: state.status === "set" ? forgetFormer(state) : {}, alert: event.data.alert };
      case "BudgetRemoved":
        return { status: "absent" };
      case "BudgetReached": {
        if (state.status === "absent") return state;
        const { limit, period, percent, at_most } = event.data;
        const { at_most: last = at_most, former = [] } = state.reported[limit] ?? {};
        const step = { period, percent, at_most, former: last === at_most ? former : [...former, last] };
        return { ...state, reported: { ...state.reported, [limit]: step } };
      }
    }
  },
};
