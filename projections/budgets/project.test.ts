import { expect, test } from "vitest";
import { BudgetReached, BudgetRemoved, BudgetSet, budgetStream } from "#events/budget.ts";
import { ORGANIZATION, projectEvents, RECORDED_AT } from "#test/projections/projectEvents.ts";
import { budgets } from "./project.ts";

test("the budgets projection keeps the row of a removed budget, without its limits", () => {
  const subject = "organization";
  const stream = budgetStream(ORGANIZATION, subject);
  const limits = { cost_per_month: "10" };
  const alert = { workflow_id: "0198c0de-0000-7000-8000-00000000000b", set_by: { type: "person" as const, id: "p" } };
  const set = { limits: JSON.stringify(limits), hard: true, alert: JSON.stringify(alert) };
  const told = { subject, limit: "cost_per_month" as const, period: "2026-11", spent: "8", at_most: "10" };
  const changes = projectEvents(
    budgets,
    stream,
    BudgetSet.of({ subject, limits, hard: true, alert }),
    BudgetReached.of({ ...told, percent: 80 }),
    BudgetRemoved.of({ subject }),
  );
  const table = { table: "budgets", key: { id: stream.slice("budget-".length) } };
  const row = { subject, updated_at: RECORDED_AT };
  const created = { organization_id: ORGANIZATION, created_at: RECORDED_AT };
  expect(changes).toEqual([
    { ...table, kind: "put", row: { ...row, ...created, ...set } },
    { ...table, kind: "patch", row: { ...row, limits: null, hard: null, alert: null } },
  ]);
});
