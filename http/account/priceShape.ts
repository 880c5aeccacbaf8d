import { z } from "zod";
import { currentTime } from "#events/clock.ts";
import { DEFAULT_PRICES } from "#events/defaultPrices.ts";
import { PAGE_PRICE_NAME, priceAt, PRICE_PATTERN, type ModelPrice } from "#events/price.ts";
import { isKnownApi } from "#events/provider.ts";
import type { PriceRow } from "#projections/prices/query.ts";
import type { ProviderRow } from "#projections/providers/query.ts";
import { ApiError } from "../base/errors.ts";
import { Moment } from "../base/moment.ts";

/** Maximum prices per model, with different dates. */
const MAX_PRICES = 20;

const WANTED = 'must be US dollars as a text with at most 6 digits before and after the point, as in "0.15"';
const dollars = (what: string) => z.string(WANTED).regex(PRICE_PATTERN, WANTED).describe(`US dollars ${what}.`);
const Price = z.strictObject({
  valid_from: Moment.nullish().describe(
    "From this moment on; without it always. The price that began last is valid; before the first one, the default.",
  ),
  input: dollars("per million tokens of the prompt. Required for every model").optional(),
  output: dollars("per million tokens of the answer. Required for every model").optional(),
  cached_input: dollars("per million tokens that the provider read from its cache. Default: `input`").optional(),
  cache_write: dollars("per million tokens that the provider stored in its cache. Default: `input`").optional(),
  reasoning: dollars("per million tokens of reasoning. Default: `output`").optional(),
  per_call: dollars("per request to the model. Default: none").optional(),
  per_page: dollars(`per page of documents and extractions that is read. Of \`${PAGE_PRICE_NAME}\` only`).optional(),
});
export const PricesToSet = z.object({
  prices: z.array(Price).min(1).max(MAX_PRICES).describe("Replaces the prices that were set before."),
});

const nullable = z.string().nullable();
const ShownPrice = z.object({
  valid_from: z.iso.datetime().nullable().describe("Null: always."),
  input: z.string(),
  output: z.string(),
  cached_input: nullable.describe("Null: `input`."),
  cache_write: nullable.describe("Null: `input`."),
  reasoning: nullable.describe("Null: `output`."),
  per_call: nullable.describe("Null: none."),
  per_page: nullable.describe(`Of \`${PAGE_PRICE_NAME}\`: of each page.`),
});
const PriceList = z.object({
  model: z.string().describe("`provider/model`."),
  set_by: z.enum(["organization", "default"]).describe("`default`: as its provider publishes it."),
  prices: z.array(ShownPrice).describe("US dollars per million tokens."),
  source: nullable.describe("Of a default: where the provider publishes it."),
  as_of: nullable.describe("Of a default: the last day on which it was known to hold. Set your own if it has changed."),
  updated_at: z.iso.datetime().nullable().describe("Null: a default."),
});
type PriceList = z.infer<typeof PriceList>;
export const ModelPrices = PriceList.extend({
  published: PriceList.optional().describe(
    "Only of an organization's list whose first price has not begun: the default, which applies until then.",
  ),
}).meta({ title: "ModelPrices" });
export type ModelPrices = z.infer<typeof ModelPrices>;

/** Throws a 400 for wrong fields: pages have only `per_page`, and models everything else. */
function checkFields(model: string, { valid_from: _, per_page, ...ofModel }: z.infer<typeof Price>, n: number): void {
  const refuse = (field: string, reason: string) => {
    throw new ApiError(null, `prices[${n}].${field}: ${reason}`, { param: `prices[${n}].${field}` });
  };
  if (model !== PAGE_PRICE_NAME) {
    if (per_page !== undefined) refuse("per_page", `is a price of ${PAGE_PRICE_NAME} only.`);
    for (const field of ["input", "output"] as const) if (ofModel[field] === undefined) refuse(field, `${WANTED}.`);
    return;
  }
  if (per_page === undefined) refuse("per_page", `${WANTED}.`);
  const [other] = Object.keys(ofModel);
  if (other !== undefined) refuse(other, `is not a price of ${PAGE_PRICE_NAME}; set per_page only.`);
}

/** Throws a 400 for two prices that begin at the same moment, because either could apply. */
function checkMoments(prices: ModelPrice[]): void {
  const n = prices.findIndex(({ valid_from }, at) => prices.findIndex((one) => one.valid_from === valid_from) < at);
  if (n === -1) return;
  const param = `prices[${n}].valid_from`;
  throw new ApiError(null, `${param}: another price of the list begins in the same moment; each needs its own.`, {
    param,
  });
}

/** Converts prices to the form in events. Throws a 400. */
export function readPrices(model: string, { prices }: z.infer<typeof PricesToSet>): ModelPrice[] {
  const read = prices.map(({ valid_from, input = "0", output = "0", ...price }, n) => {
    checkFields(model, prices[n]!, n);
    return { valid_from: valid_from == null ? null : new Date(valid_from).toISOString(), input, output, ...price };
  });
  checkMoments(read);
  return read;
}

const showPrice = ({ valid_from, input, output, ...rest }: ModelPrice): z.infer<typeof ShownPrice> => ({
  valid_from,
  input,
  output,
  cached_input: rest.cached_input ?? null,
  cache_write: rest.cache_write ?? null,
  reasoning: rest.reasoning ?? null,
  per_call: rest.per_call ?? null,
  per_page: rest.per_page ?? null,
});

/** `published`: the default of the model, which applies until the first of these prices begins. */
export function presentPrices(
  { model, prices, updated_at }: Omit<PriceRow, "created_at">,
  published: PriceList | undefined,
): ModelPrices {
  const isStillPublished = published && !priceAt(prices, currentTime());
  return {
    model,
    set_by: "organization",
    prices: prices.map(showPrice),
    source: null,
    as_of: null,
    updated_at: updated_at.toISOString(),
    ...(isStillPublished && { published }),
  };
}

/** The default prices, one entry per model name. */
const DEFAULT_LISTS: readonly PriceList[] = DEFAULT_PRICES.flatMap(({ models, price, source, as_of }) =>
  models.map(
    (model): PriceList => ({
      model,
      set_by: "default",
      prices: [showPrice(price)],
      source,
      as_of,
      updated_at: null,
    }),
  ),
);

const apiOf = ({ model }: PriceList): string => model.slice(0, model.indexOf("/"));

/**
 * The default prices by model name, also under the names that the organization has given to known APIs, such as a second key of
 * Anthropic. They are prices of the API's own address, so an API that the organization uses at another one has none.
 */
export function defaultPricesFor(providers: readonly ProviderRow[]): Map<string, PriceList> {
  const elsewhere = new Set(providers.filter(({ base_url }) => base_url !== null).map(({ name }) => name));
  const own = providers.filter(({ name, base_url }) => base_url === null && !isKnownApi(name));
  const renamed = own.flatMap(({ name, format }) =>
    DEFAULT_LISTS.filter((list) => apiOf(list) === format).map((list) => ({
      ...list,
      model: name + list.model.slice(list.model.indexOf("/")),
    })),
  );
  const named = DEFAULT_LISTS.filter((list) => !elsewhere.has(apiOf(list)));
  return new Map([...named, ...renamed].map((list) => [list.model, list]));
}
