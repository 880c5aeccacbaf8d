import { queryOptions } from "@tanstack/react-query";
import { call } from "./call.ts";
import type { Page } from "./types.ts";

/* What models cost, what may be spent, and the names that stand for several models. For administrators. */

const LIMIT = 500;
/** No event says that the figures of a budget changed. */
const RENEWED_MS = 30_000;
const RATES_RENEWED_MS = 5_000;
const one = (kind: string, ...names: string[]) => [kind, ...names.map(encodeURIComponent)].join("/");

/** Limits of a day and of a month. */
export const AMOUNTS = [
  "tokens_per_day",
  "tokens_per_month",
  "cost_per_day",
  "cost_per_month",
  "pages_per_day",
  "pages_per_month",
] as const;
/** Limits of what is stored. */
export const STORED = ["stored_bytes", "documents"] as const;
/** Limits of any 60 seconds, and of a moment. */
export const RATES = [
  "requests_per_minute",
  "tokens_per_minute",
  "concurrent_turns",
  "concurrent_streams",
  "concurrent_runs",
] as const;
export type LimitName = (typeof AMOUNTS | typeof STORED | typeof RATES)[number];

export interface BudgetLimit {
  name: LimitName;
  /** A whole number, or US dollars. */
  limit: string;
  spent: string;
  percent: number;
  /** Null: when something is deleted or ends. */
  ends_at: string | null;
}

export interface Budget {
  /** `organization`, `each-user`, `project:<id>`, `key:<id>`, `person:<id>`, `agent:<id>` or `user:<mark>`. */
  subject: string;
  /** Whether requests that would pass it are refused at the limit. */
  hard: boolean;
  limits: BudgetLimit[];
  updated_at: string;
}

export const isRate = ({ name }: Pick<BudgetLimit, "name">): boolean => RATES.some((rate) => rate === name);

export const listBudgets = queryOptions({
  queryKey: ["budget", "list"],
  queryFn: ({ signal }) => call<Page<Budget>>("budgets", { signal, query: { limit: LIMIT } }),
  refetchInterval: ({ state }) =>
    state.data?.data.some(({ limits }) => limits.some(isRate)) ? RATES_RENEWED_MS : RENEWED_MS,
});
/** From here on answers carry a warning. */
export const WARNED_PERCENT = 80;
/** How far the limit of a day or a month is used up that is nearest to its end. A full minute is free again in a minute. */
export const usedPercent = ({ limits }: Budget): number =>
  Math.max(0, ...limits.filter((limit) => !isRate(limit)).map(({ percent }) => percent));

/** Amounts of money are texts. */
export type BudgetToSet = Record<LimitName, number | string | null> & { hard: boolean };
export const setBudget = (subject: string, body: BudgetToSet) =>
  call<Budget>(one("budgets", subject), { method: "PUT", body });
export const removeBudget = (subject: string) => call<void>(one("budgets", subject), { method: "DELETE" });

/** What reading a page costs is a price of this name. */
export const PAGES = "reading/pages";

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
  /** Of `PAGES` only. */
  per_page: string | null;
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
export type PriceToSet = Pick<Price, "valid_from"> & Partial<Record<keyof Price, string | null>>;

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
  region?: string | undefined;
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
