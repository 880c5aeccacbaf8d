import type { BudgetEvent } from "#events/budget.ts";
import { defineProjection, encode, streamRow } from "../projection.ts";

const change = streamRow("budgets");

export const budgets = defineProjection<BudgetEvent>({
  name: "budgets",
  version: 2,
  tables: new URL("table.sql", import.meta.url),
  on: {
    BudgetSet: (event) => {
      const { subject, limits, hard, alert } = event.data;
      return change(event, { subject, limits: encode(limits), hard, alert: encode(alert) });
    },
    BudgetRemoved: (event) => change(event, { subject: event.data.subject, limits: null, hard: null, alert: null }),
    BudgetReached: () => [],
  },
});
