import type { BudgetStep } from "#events/budget.ts";
import { MAX_ENTRIES } from "./organizationCache.ts";

export interface ReportOptions {
  /** Records that a limit is reached. Called again after it failed. */
  report(organization: string, reached: BudgetStep): Promise<unknown>;
  onError(error: unknown): void;
}

/** Reports each threshold of a limit once per process. The decider records only the first process's report. */
export function createReporter({ report, onError }: ReportOptions) {
  const reported = new Set<string>();
  return (organization: string, steps: BudgetStep[]): void => {
    for (const reached of steps) {
      const { subject, limit, period, percent, at_most } = reached;
      const key = [organization, subject, limit, period, percent, at_most].join();
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
