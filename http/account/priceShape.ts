import { z } from "zod";
import { DEFAULT_PRICES } from "#events/defaultPrices.ts";
import { PRICE_PATTERN, type ModelPrice } from "#events/price.ts";
import type { PriceRow } from "#projections/prices/query.ts";
import { Moment } from "../base/moment.ts";

/** Prices of one model, of different dates. */
const MAX_PRICES = 20;

const WANTED = 'must be US dollars as a text with at most 6 digits before and after the point, as in "0.15"';
const dollars = (what: string) => z.string(WANTED).regex(PRICE_PATTERN, WANTED).describe(`US dollars ${what}.`);
const Price = z.strictObject({
  valid_from: Moment.nullish().describe("From this moment on; without it always. The price that began last is valid."),
  input: dollars("per million tokens of the prompt"),
  output: dollars("per million tokens of the answer"),
  cached_input: dollars("per million tokens that the provider read from its cache. Default: `input`").optional(),
  cache_write: dollars("per million tokens that the provider stored in its cache. Default: `input`").optional(),
  reasoning: dollars("per million tokens of reasoning. Default: `output`").optional(),
  per_call: dollars("per request to the model. Default: none").optional(),
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
});
export const ModelPrices = z.object({
  model: z.string().describe("`provider/model`."),
  set_by: z.enum(["organization", "default"]).describe("`default`: as its provider publishes it."),
  prices: z.array(ShownPrice).describe("US dollars per million tokens."),
  source: nullable.describe("Of a default: where the provider publishes it."),
  as_of: nullable.describe("Of a default: the last day on which it was known to hold. Set your own if it has changed."),
  updated_at: z.iso.datetime().nullable().describe("Null: a default."),
});
export type ModelPrices = z.infer<typeof ModelPrices>;

/** The prices as an event holds them. */
export const readPrices = ({ prices }: z.infer<typeof PricesToSet>): ModelPrice[] =>
  prices.map(({ valid_from, ...price }) => ({
    valid_from: valid_from == null ? null : new Date(valid_from).toISOString(),
    ...price,
  }));

const showPrice = ({ valid_from, input, output, ...rest }: ModelPrice): z.infer<typeof ShownPrice> => ({
  valid_from,
  input,
  output,
  cached_input: rest.cached_input ?? null,
  cache_write: rest.cache_write ?? null,
  reasoning: rest.reasoning ?? null,
  per_call: rest.per_call ?? null,
});

export const presentPrices = ({ model, prices, updated_at }: Omit<PriceRow, "created_at">): ModelPrices => ({
  model,
  set_by: "organization",
  prices: prices.map(showPrice),
  source: null,
  as_of: null,
  updated_at: updated_at.toISOString(),
});

/** The published prices, one entry per name of a model. */
export const DEFAULTS: readonly ModelPrices[] = DEFAULT_PRICES.flatMap(({ models, price, source, as_of }) =>
  models.map(
    (model): ModelPrices => ({
      model,
      set_by: "default",
      prices: [showPrice(price)],
      source,
      as_of,
      updated_at: null,
    }),
  ),
);
