import type { BudgetStep } from "#events/budget.ts";
import { MAX_ENTRIES } from "./organizationCache.ts";
import type { BudgetRow } from "./query.ts";

export interface ReportOptions {
  /** Records that a limit is reached. Called again after it failed. */
  report(organization: string, reached: BudgetStep): Promise<unknown>;
  onError(error: unknown): void;
}

/**
 * Reports each threshold of a limit once per process and per setting of its budget: one that is removed and set again must be
 * reported again. The decider records only the first process's report. `budgetsOf`: the last known budgets of an organization.
 */
export function createReporter(
  { report, onError }: ReportOptions,
  budgetsOf: (organization: string) => Pick<BudgetRow, "subject" | "updated_at">[],
) {
  const reported = new Set<string>();
  return (organization: string, steps: BudgetStep[]): void => {
    if (steps.length === 0) return;
    const setAt = new Map(budgetsOf(organization).map(({ subject, updated_at }) => [subject, Number(updated_at)]));
    for (const reached of steps) {
      const { subject, limit, period, percent, at_most } = reached;
      const key = [organization, subject, setAt.get(subject), limit, period, percent, at_most].join();
      if (reported.has(key)) continue;
      if (reported.size >= MAX_ENTRIES) reported.clear();
      reported.add(key);
      report(organization, reached).catch((error: unknown) => {
        reported.delete(key);
        onError(error);
      });
    }
  };
}
