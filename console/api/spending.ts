import { queryOptions } from "@tanstack/react-query";
import { call, itemPath, nullIfMissing, queryAll } from "./call.ts";
import { RATE_LIMITS, type LimitName } from "./limitNames.ts";
import { FieldError } from "../format/FieldError.ts";

/* Prices of models, budgets, and aliases. For administrators. */

/** No event reports changes of a budget's figures. */
const RENEWED_MS = 30_000;
const RATES_RENEWED_MS = 5_000;

export interface BudgetLimit {
  name: LimitName;
  /** A whole number, or US dollars. */
  limit: string;
  spent: string;
  /** The amount that running requests reserve; only for money. */
  reserved?: string;
  /** The amount that is neither spent nor reserved. */
  left: string;
  percent: number;
  /** Null if the limit never resets, or is released by deletions or ends. */
  ends_at: string | null;
}

export interface Budget {
  /** `organization`, `each-user`, `project:<id>`, `key:<id>`, `person:<id>`, `agent:<id>` or `user:<mark>`. */
  subject: string;
  /** The model or alias that turns must name to count; null: all count. */
  model: string | null;
  /** Whether requests that would exceed it are refused at the limit. */
  hard: boolean;
  /** The workflow that runs at 80 % and 100 % of a limit. */
  workflow_id: string | null;
  limits: BudgetLimit[];
  updated_at: string;
}

/** The subject and the model as one text. No subject in a list contains an `@`. */
export const budgetKey = ({ subject, model }: Pick<Budget, "subject" | "model">): string =>
  model === null ? subject : `${subject}@${model}`;
export function splitBudgetKey(key: string): Pick<Budget, "subject" | "model"> {
  const at = key.indexOf("@");
  return at === -1 ? { subject: key, model: null } : { subject: key.slice(0, at), model: key.slice(at + 1) };
}

export const isRate = ({ name }: Pick<BudgetLimit, "name">): boolean => RATE_LIMITS.some((rate) => rate === name);

export const listBudgets = queryOptions({
  queryKey: ["budget", "list"],
  queryFn: queryAll<Budget>("budgets", budgetKey),
  refetchInterval: ({ state }) =>
    state.data?.data.some(({ limits }) => limits.some(isRate)) ? RATES_RENEWED_MS : RENEWED_MS,
});
/** What the signed-in person may still spend. */
export const listOwnLimits = queryOptions({
  queryKey: ["budget", "own"],
  queryFn: queryAll<Omit<Budget, "updated_at">>("limits", budgetKey),
  refetchInterval: RENEWED_MS,
});
/** From this percentage on answers carry a warning. */
export const WARNED_PERCENT = 80;
/** The used share of the daily or monthly limit that is nearest to its end. Limits per minute are left out, because they reset in a minute. */
export const usedPercent = ({ limits }: Pick<Budget, "limits">): number =>
  Math.max(0, ...limits.filter((limit) => !isRate(limit)).map(({ percent }) => percent));

/** Amounts of money are strings. */
export type BudgetToSet = Record<LimitName, number | string | null> & { hard: boolean; workflow_id: string | null };
type BudgetName = Pick<Budget, "subject" | "model">;
const queryOf = ({ model }: BudgetName) => (model === null ? {} : { query: { model } });
/** Null if this subject has none. */
export const readBudget = (named: BudgetName, signal?: AbortSignal) =>
  nullIfMissing(call<Budget>(itemPath("budgets", named.subject), { ...(signal && { signal }), ...queryOf(named) }));
export const getBudget = (key: string) =>
  queryOptions({
    queryKey: ["budget", "one", key],
    queryFn: ({ signal }) => readBudget(splitBudgetKey(key), signal),
  });
export const setBudget = (named: BudgetName, body: BudgetToSet) =>
  call<Budget>(itemPath("budgets", named.subject), { method: "PUT", body, ...queryOf(named) });
export function removeBudget(key: string) {
  const named = splitBudgetKey(key);
  return call<void>(itemPath("budgets", named.subject), { method: "DELETE", ...queryOf(named) });
}

/** The price of reading a page is stored under this name. */
export const PAGES = "reading/pages";

/** US dollars per million tokens; `per_call` for each request. */
export interface Price {
  /** Null means always. */
  valid_from: string | null;
  input: string;
  output: string;
  cached_input: string | null;
  cache_write: string | null;
  reasoning: string | null;
  per_call: string | null;
  /** Only for `PAGES`. */
  per_page: string | null;
}

export interface ModelPrices {
  /** `provider/model`. */
  model: string;
  set_by: "organization" | "default";
  prices: Price[];
  /** For a default price: the provider's page, and the date on which it was known to be valid. */
  source: string | null;
  as_of: string | null;
  /** The default price, which applies until the first of the organization's own prices begins. Absent once one has begun. */
  published?: ModelPrices;
}

export const listPrices = queryOptions({
  queryKey: ["price", "list"],
  queryFn: queryAll<ModelPrices>("prices", ({ model }) => model),
});
/** A price without its omitted fields. */
export type PriceToSet = Pick<Price, "valid_from"> & Partial<Record<keyof Price, string | null>>;

function pathOfModel(model: string): string {
  const slash = model.indexOf("/");
  if (slash < 1) throw new FieldError("model", "Model must be named provider/model, as in openai/gpt-5.");
  return itemPath("prices", model.slice(0, slash), model.slice(slash + 1));
}
/** Null if it has no price. */
export const readPrices = async (model: string, signal?: AbortSignal) =>
  nullIfMissing(call<ModelPrices>(pathOfModel(model), { ...(signal && { signal }) }));
export const getPrices = (model: string) =>
  queryOptions({
    queryKey: ["price", "one", model],
    // an address may contain anything, and an invalid model name has no price
    queryFn: ({ signal }) => (model.indexOf("/") < 1 ? null : readPrices(model, signal)),
  });
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
  /** Failures after which the next target is tried. */
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
  queryFn: queryAll<Alias>("aliases", ({ alias }) => alias),
});
/** Null if there is none of this name. */
export const readAlias = (alias: string) => nullIfMissing(call<Alias>(itemPath("aliases", alias)));
export const configureAlias = (alias: string, body: AliasSettings) =>
  call<Alias>(itemPath("aliases", alias), { method: "PUT", body });
export const removeAlias = (alias: string) => call<void>(itemPath("aliases", alias), { method: "DELETE" });
