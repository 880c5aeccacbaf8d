import { queryOptions } from "@tanstack/react-query";
import { call } from "./call.ts";
import type { Page } from "./types.ts";

/* What models cost, what may be spent, and the names that stand for several models. For administrators. */

const LIMIT = 500;
/** No event says that the figures of a budget changed. */
const RENEWED_MS = 30_000;
const one = (kind: string, ...names: string[]) => [kind, ...names.map(encodeURIComponent)].join("/");

export const LIMITS = ["tokens_per_day", "tokens_per_month", "cost_per_day", "cost_per_month"] as const;
export type LimitName = (typeof LIMITS)[number];

export interface BudgetLimit {
  name: LimitName;
  /** Tokens, or US dollars. */
  limit: string;
  spent: string;
  percent: number;
  ends_at: string;
}

export interface Budget {
  /** `organization`, `project:<id>`, `key:<id>`, `person:<id>` or `agent:<id>`. */
  subject: string;
  /** Whether turns are refused at the limit. */
  hard: boolean;
  limits: BudgetLimit[];
  /** Limits of a minute and of a moment, which the form does not show and must not remove. */
  rates: Record<string, number>;
  updated_at: string;
}

/** As the API gives it: with all limits in one list. */
type StoredBudget = Omit<Budget, "rates">;
const isOfPeriod = ({ name }: BudgetLimit): boolean => LIMITS.includes(name);
const splitLimits = (budget: StoredBudget): Budget => ({
  ...budget,
  limits: budget.limits.filter(isOfPeriod),
  rates: Object.fromEntries(
    budget.limits.filter((limit) => !isOfPeriod(limit)).map(({ name, limit }) => [name, Number(limit)]),
  ),
});

export const listBudgets = queryOptions({
  queryKey: ["budget", "list"],
  queryFn: async ({ signal }): Promise<Page<Budget>> => {
    const page = await call<Page<StoredBudget>>("budgets", { signal, query: { limit: LIMIT } });
    return { ...page, data: page.data.map(splitLimits) };
  },
  refetchInterval: RENEWED_MS,
});
/** From here on answers carry a warning. */
export const WARNED_PERCENT = 80;
/** How far the limit is used up that is nearest to its end. */
export const usedPercent = ({ limits }: Budget): number => Math.max(0, ...limits.map(({ percent }) => percent));

export interface BudgetToSet {
  tokens_per_day: number | null;
  tokens_per_month: number | null;
  cost_per_day: string | null;
  cost_per_month: string | null;
  hard: boolean;
}
export const setBudget = (subject: string, body: BudgetToSet) =>
  call<StoredBudget>(one("budgets", subject), { method: "PUT", body });
export const removeBudget = (subject: string) => call<void>(one("budgets", subject), { method: "DELETE" });

/** US dollars per million tokens; `per_call` for each request. */
export interface Price {
  /** Null: always. */
  valid_from: string | null;
  input: string;
  output: string;
  cached_input: string | null;
  cache_write: string | null;
  reasoning: string | null;
  per_call: string | null;
}

export interface ModelPrices {
  /** `provider/model`. */
  model: string;
  set_by: "organization" | "default";
  prices: Price[];
  /** Of a default: where its provider publishes it, and when it was known to hold. */
  source: string | null;
  as_of: string | null;
}

export const listPrices = queryOptions({
  queryKey: ["price", "list"],
  queryFn: ({ signal }) => call<Page<ModelPrices>>("prices", { signal, query: { limit: LIMIT } }),
});
/** A price without the fields that are left out. */
export type PriceToSet = Pick<Price, "valid_from" | "input" | "output"> & Partial<Record<keyof Price, string | null>>;

function pathOfModel(model: string): string {
  const slash = model.indexOf("/");
  if (slash < 1) throw new Error("Model must be named provider/model, as in openai/gpt-5.");
  return one("prices", model.slice(0, slash), model.slice(slash + 1));
}
export const setPrices = async (model: string, prices: PriceToSet[]) =>
  call<ModelPrices>(pathOfModel(model), { method: "PUT", body: { prices } });
export const removePrices = async (model: string) => call<void>(pathOfModel(model), { method: "DELETE" });

export interface Target {
  model: string;
  weight?: number | undefined;
}

export interface AliasSettings {
  targets: Target[];
  /** Failures after which the next target is asked. */
  on: string[];
  timeout_seconds: number;
  max_attempts: number;
  max_seconds: number;
}

export interface Alias extends AliasSettings {
  alias: string;
  updated_at: string;
}

export const listAliases = queryOptions({
  queryKey: ["alias", "list"],
  queryFn: ({ signal }) => call<Page<Alias>>("aliases", { signal, query: { limit: LIMIT } }),
});
export const configureAlias = (alias: string, body: AliasSettings) =>
  call<Alias>(one("aliases", alias), { method: "PUT", body });
export const removeAlias = (alias: string) => call<void>(one("aliases", alias), { method: "DELETE" });
