import { z } from "zod";
import { LimitName, RateName, splitSubject, type BudgetLimits } from "#events/budget.ts";
import { mapInSlices } from "#events/slices.ts";
import { fromUnits, MEASURES, toUnits } from "#projections/budgets/limits.ts";
import type { PresentedRate } from "#projections/budgets/rates.ts";
import type { BudgetStatus, LimitStatus } from "#projections/budgets/status.ts";

const tokens = (period: string) =>
  z.int().min(0).nullish().describe(`Tokens of prompts and answers ${period}. Default: no limit.`);
const AMOUNT = /^\d{1,9}(\.\d{1,6})?$/;
const WANTED = 'must be US dollars as a text with at most 6 digits after the point, as in "250"';
const dollars = (period: string) =>
  z.string(WANTED).regex(AMOUNT, WANTED).nullish().describe(`US dollars ${period}. Default: no limit.`);

const atMost = (what: string) => z.int().min(0).nullish().describe(`${what} Default: no limit.`);

export const BudgetToSet = z.strictObject({
  requests_per_minute: atMost("Turns that begin within any 60 seconds."),
  tokens_per_minute: atMost("Tokens of turns that ended within any 60 seconds, plus an estimate for running ones."),
  concurrent_turns: atMost("Turns at a time."),
  concurrent_streams: atMost("Streamed turns at a time."),
  requests_per_day: atMost("Turns that end in a UTC day."),
  requests_per_month: atMost("Turns that end in a UTC calendar month."),
  tokens_per_day: tokens("in a UTC day"),
  tokens_per_week: tokens("in a UTC week, from Monday"),
  tokens_per_month: tokens("in a UTC calendar month"),
  tokens_total: tokens("of all time"),
  cost_per_day: dollars("in a UTC day"),
  cost_per_week: dollars("in a UTC week, from Monday"),
  cost_per_month: dollars("in a UTC calendar month"),
  cost_total: dollars("of all time"),
  pages_per_day: atMost("Pages of documents and extractions that are read in a UTC day."),
  pages_per_month: atMost("The same in a UTC calendar month."),
  stored_bytes: atMost("Bytes of files, attachments, documents and extractions at a time."),
  documents: atMost("Documents at a time."),
  concurrent_runs: atMost("Runs of workflows that have not ended."),
  workflow_id: z
    .uuid()
    .nullish()
    .describe(
      "A run of this workflow starts each time that a limit is used to 80 % or 100 %, with `{subject, model, limit, period, percent, spent, at_most}` as arguments. Default: none.",
    ),
  hard: z
    .boolean()
    .default(true)
    .describe(
      "At the limit, requests are refused with 402 `budget_exceeded`, or with 429 `rate_limited` if there is room again within moments. `false`: there are only warnings.",
    ),
});

const LimitShape = z.object({
  name: z.enum([...RateName.options, ...LimitName.options]),
  limit: z.string().describe("A whole number, or US dollars."),
  spent: z.string().describe("What counts towards the limit now."),
  reserved: z
    .string()
    .optional()
    .describe(
      "For money: US dollars held back for running turns. A turn begins only if it fits beside `spent` and `reserved`.",
    ),
  left: z.string().describe("What is neither spent nor reserved; never below 0."),
  percent: z.int(),
  period: z
    .string()
    .describe("`2026-11-23`, `2026-W48` or `2026-11` for a day, a week or a month; else `total`, `minute` or `now`."),
  ends_at: z.iso
    .datetime()
    .nullable()
    .describe("When `spent` starts again at 0; null: never (`total`), or only as things are deleted or end."),
});
export const SUBJECT_DESCRIPTION =
  "Who spends: `organization`, `each-user` (each value of `user` by itself), `project:<id>`, `key:<id>`, `person:<id>`, `agent:<id>`, or `user:<value>`, one value of `user`, which is kept and shown as `user:<mark>`.";
export const Budget = z
  .object({
    subject: z.string().describe(SUBJECT_DESCRIPTION),
    model: z.string().nullable().describe("Only turns that name this model or alias count; null: all turns."),
    hard: z.boolean(),
    workflow_id: z.string().nullable().describe("The workflow that runs when a limit is used to 80 % or 100 %."),
    limits: z.array(LimitShape),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    warning: z
      .string()
      .optional()
      .describe(
        "Only in the answer that sets the budget: the provider's list of models cannot be read, so the model may be misspelt.",
      ),
  })
  .meta({ title: "Budget" });
export type Budget = z.infer<typeof Budget>;

const OF_DOCUMENTS: (keyof BudgetLimits)[] = ["documents", "pages_per_day", "pages_per_month"];
/** Limits that turns do not count towards. */
const OF_NO_TURN: (keyof BudgetLimits)[] = [...OF_DOCUMENTS, "stored_bytes", "concurrent_runs"];
/** Limits that never count for a kind of subject: documents name no user, and agents start no runs. */
const UNCOUNTED: Record<string, (keyof BudgetLimits)[]> = {
  "each-user": OF_DOCUMENTS,
  user: OF_DOCUMENTS,
  agent: [...OF_DOCUMENTS, "concurrent_runs"],
};
export function uncountedLimit(subject: string, limits: BudgetLimits): string | undefined {
  const { who, model } = splitSubject(subject);
  const names = model === null ? UNCOUNTED[who.split(":")[0]!] : OF_NO_TURN;
  return names?.find((name) => limits[name] !== undefined);
}

/** The limits that are set. */
export function readLimits({ hard: _, workflow_id: __, ...limits }: z.infer<typeof BudgetToSet>): BudgetLimits {
  const set = Object.entries(limits).filter(([, limit]) => limit != null);
  return Object.fromEntries(set) as BudgetLimits;
}

const presentRate = ({ name, at_most, used, ends_at }: PresentedRate): Budget["limits"][number] => ({
  name,
  limit: String(at_most),
  spent: String(used),
  left: String(Math.max(0, at_most - used)),
  percent: at_most === 0 ? 100 : Math.floor((used * 100) / at_most),
  period: name.startsWith("concurrent") ? "now" : "minute",
  ends_at: ends_at.toISOString(),
});

function leftOf({ name, at_most, spent, reserved = "0" }: LimitStatus): string {
  const left = toUnits(name, at_most) - toUnits(name, spent) - toUnits(name, reserved);
  return fromUnits(name, left > 0n ? left : 0n);
}

const presentLimit = (limit: LimitStatus): Budget["limits"][number] => {
  const { name, at_most, spent, reserved, percent, period, ends_at } = limit;
  return {
    name,
    limit: at_most,
    spent,
    ...(reserved !== undefined && { reserved }),
    left: leftOf(limit),
    percent,
    period: MEASURES[name].per === "now" ? "now" : period,
    ends_at: ends_at?.toISOString() ?? null,
  };
};

/** `rates`: those of this budget. */
const presentBudget = ({ budget, limits }: BudgetStatus, rates: PresentedRate[]): Budget => ({
  subject: splitSubject(budget.subject).who,
  model: splitSubject(budget.subject).model,
  hard: budget.hard,
  workflow_id: budget.alert?.workflow_id ?? null,
  limits: [...rates.map(presentRate), ...limits.map(presentLimit)],
  created_at: budget.created_at.toISOString(),
  updated_at: budget.updated_at.toISOString(),
});

/** `rates`: of all these budgets. In slices, because an organization may have a thousand budgets. */
export function presentBudgets(statuses: BudgetStatus[], rates: PresentedRate[]): Promise<Budget[]> {
  const bySubject = Map.groupBy(rates, ({ subject }) => subject);
  return mapInSlices(statuses, (status) => presentBudget(status, bySubject.get(status.budget.subject) ?? []));
}
