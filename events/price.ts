import { z } from "zod";
import { defineCommand, defineEvent, type CommandsIn, type EventsIn } from "./language.ts";
import { deriveId, streamName } from "./ids.ts";
import { fromPicodollars, toPicodollars, type Money } from "./money.ts";

/** An organization has one list of prices per model, so the id is derived from both. `model`: `provider/model`. */
export const priceStream = (organization: string, model: string): string =>
  streamName("price", deriveId("price", organization, model));

/** What reading a page of a document or an extraction costs has the name of a model in prices. */
export const PAGES = "reading/pages";

/** US dollars with at most 6 digits after the point: the cost of every token is then a whole number of picodollars. */
export const PRICE_PATTERN = /^\d{1,6}(\.\d{1,6})?$/;
const PriceAmount = z.string().regex(PRICE_PATTERN);

/** What a model costs from a moment on, per million tokens. An optional price that is absent is the one that its comment names. */
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
  /** Of each request to the model; absent: none. */
  per_call: PriceAmount.optional(),
  /** Of `PAGES` only: of each page that is read. */
  per_page: PriceAmount.optional(),
});
export type ModelPrice = z.infer<typeof ModelPrice>;

/** In commands: the price of a page when it was read; absent: none is set. */
export const PagePrice = PriceAmount.optional();

/** What pages cost; nothing where no price is set, or none is charged. */
export const costOfPages = (units: number, per_page: string | undefined): { cost?: Money } =>
  units === 0 || per_page === undefined ? {} : { cost: fromPicodollars(BigInt(units) * toPicodollars(per_page)) };

const MILLION = 1_000_000n;
/** Picodollars of one token, from a price per million tokens, which has at most 6 decimals. */
export const perToken = (price: string): bigint => toPicodollars(price) / MILLION;

/** The price that is valid at a moment (epoch milliseconds): of those that have begun, the one that began last. */
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
