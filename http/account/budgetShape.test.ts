import { expect, test } from "vitest";
import { longestTurn } from "#test/computingTime.ts";
import { presentBudgets } from "./budgetShape.ts";

const BUDGETS = 5_000;
const RATES = ["requests_per_minute", "tokens_per_minute", "concurrent_turns", "concurrent_streams"];

const keyId = (n: number) => `0198c0de-0000-7000-8000-${String(n).padStart(12, "0")}`;
const subjects = Array.from({ length: BUDGETS }, (_, n) => `key:${keyId(n)}`);
const now = new Date();
const statuses = subjects.map((subject) => ({
  budget: { subject, hard: true, alert: null, created_at: now, updated_at: now },
  limits: [{ name: "tokens_per_day", at_most: "10", spent: "4", percent: 40, period: "2026-11-30", ends_at: null }],
}));
const rates = subjects.flatMap((subject, n) =>
  RATES.map((name) => ({ subject, counted: subject, name, hard: true, at_most: BUDGETS, used: n, ends_at: now })),
);

test("each budget has its own rates, and thousands of budgets do not hold up the process", async () => {
  let budgets: Awaited<ReturnType<typeof presentBudgets>> = [];
  const work = async () => void (budgets = await presentBudgets(statuses as never, rates as never));
  expect(await longestTurn(work)).toBeLessThan(50);
  expect(budgets).toHaveLength(BUDGETS);
  for (const n of [0, 1, BUDGETS - 1]) {
    expect(budgets[n]).toMatchObject({ subject: subjects[n], model: null });
    expect(budgets[n]!.limits.map(({ spent }) => spent)).toEqual([...RATES.map(() => `${n}`), "4"]);
  }
});
