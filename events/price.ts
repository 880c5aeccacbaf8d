import { z } from "zod";
import { defineCommand, defineEvent, type CommandsIn, type EventsIn } from "./language.ts";
import { deriveId, streamName } from "./ids.ts";
import { fromPicodollars, toPicodollars, type Money } from "./money.ts";

/** An organization has one price list per model, so the id is derived from both. `model`: `provider/model`. */
export const priceStream = (organization: string, model: string): string =>
  streamName("price", deriveId("price", organization, model));

/** The name under which price lists hold the cost of reading one page of a document or an extraction. */
export const PAGE_PRICE_NAME = "reading/pages";

/** US dollars with at most 6 digits after the point: the cost of every token is then a whole number of picodollars. */
export const PRICE_PATTERN = /^\d{1,6}(\.\d{1,6})?$/;
const PriceAmount = z.string().regex(PRICE_PATTERN);

/** The prices of a model from a moment on, in US dollars per million tokens. Comments name the price that applies when an optional one is absent. */
export const ModelPrice = z.object({
  /** RFC 3339; null: always. */
  valid_from: z.iso.datetime().nullable(),
  input: PriceAmount,
  output: PriceAmount,
  /** Tokens that the provider read from its cache; absent: `input`. */
  cached_input: PriceAmount.optional(),
  /** Tokens that the provider stored in its cache; absent: `input`. */
  cache_write: PriceAmount.optional(),
  /** Absent: `output`. */
  reasoning: PriceAmount.optional(),
  /** Per request to the model; absent: none. */
  per_call: PriceAmount.optional(),
  /** Per page read; only for `PAGE_PRICE_NAME`. */
  per_page: PriceAmount.optional(),
});
export type ModelPrice = z.infer<typeof ModelPrice>;

/** The price per page in a command: the one in force when the pages were read. Absent if none was set. */
export const PagePrice = PriceAmount.optional();

/** The cost of `units` pages; empty if no price is set or nothing is charged. */
export const costOfPages = (units: number, per_page: string | undefined): { cost?: Money } =>
  units === 0 || per_page === undefined ? {} : { cost: fromPicodollars(BigInt(units) * toPicodollars(per_page)) };

const MILLION = 1_000_000n;
/** Picodollars of one token, from a price per million tokens, which has at most 6 decimals. */
export const picodollarsPerToken = (price: string): bigint => toPicodollars(price) / MILLION;

/** The price at a moment (epoch milliseconds): the most recent one that has begun; undefined before the first. */
export function priceAt(prices: readonly ModelPrice[], at: number): ModelPrice | undefined {
  const start = ({ valid_from }: ModelPrice) =>
    valid_from === null ? Number.NEGATIVE_INFINITY : Date.parse(valid_from);
  return prices.filter((price) => start(price) <= at).toSorted((a, b) => start(b) - start(a))[0];
}

const Prices = z.object({ model: z.string(), prices: z.array(ModelPrice).min(1) });

export const SetPrices = defineCommand("SetPrices", "price", Prices);
export const RemovePrices = defineCommand("RemovePrices", "price", z.object({ model: z.string() }));

/** Replaces the prices of the model. Turns that have ended keep their cost. */
export const PricesSet = defineEvent("PricesSet", { public: Prices });
export const PricesRemoved = defineEvent("PricesRemoved", { public: z.object({ model: z.string() }) });

export type PriceCommand = CommandsIn<typeof import("./price.ts")>;
export type PriceEvent = EventsIn<typeof import("./price.ts")>;
