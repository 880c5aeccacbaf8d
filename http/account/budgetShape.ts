import { z } from "zod";
import { LimitName, type Limits } from "#events/budget.ts";
import type { BudgetStatus } from "#projections/budgets/status.ts";

const tokens = (period: string) =>
  z.int().min(0).nullish().describe(`Tokens of prompts and answers in a ${period} of UTC. Default: no limit.`);
const AMOUNT = /^\d{1,9}(\.\d{1,6})?$/;
const WANTED = 'must be US dollars as a text with at most 6 digits after the point, as in "250"';
const dollars = (period: string) =>
  z.string(WANTED).regex(AMOUNT, WANTED).nullish().describe(`US dollars in a ${period} of UTC. Default: no limit.`);

export const BudgetToSet = z.strictObject({
  tokens_per_day: tokens("day"),
  tokens_per_month: tokens("calendar month"),
  cost_per_day: dollars("day"),
  cost_per_month: dollars("calendar month"),
  hard: z
    .boolean()
    .default(true)
    .describe("At the limit, turns are refused with 402 `budget_exceeded`; with `false` there are warnings only."),
});

const LimitShape = z.object({
  name: LimitName,
  limit: z.string().describe("Tokens, or US dollars."),
  spent: z.string().describe("The figure that refuses turns, as it is now."),
  percent: z.int(),
  period: z.string().describe("The day or the month: `2026-11-23` or `2026-11`."),
  ends_at: z.iso.datetime(),
});
export const Budget = z.object({
  subject: z
    .string()
    .describe("Who spends: `organization`, `project:<id>`, `key:<id>`, `person:<id>` or `agent:<id>`."),
  hard: z.boolean(),
  limits: z.array(LimitShape),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type Budget = z.infer<typeof Budget>;

/** The limits that are set. */
export function readLimits({ hard: _, ...limits }: z.infer<typeof BudgetToSet>): Limits {
  const set = Object.entries(limits).filter(([, limit]) => limit != null);
  return Object.fromEntries(set) as Limits;
}

export const presentBudget = ({ budget, limits }: BudgetStatus): Budget => ({
  subject: budget.subject,
  hard: budget.hard,
  limits: limits.map(({ name, at_most, spent, percent, period, ends_at }) => ({
    name,
    limit: at_most,
    spent,
    percent,
    period,
    ends_at: ends_at.toISOString(),
  })),
  created_at: budget.created_at.toISOString(),
  updated_at: budget.updated_at.toISOString(),
});
