import { currentTime } from "#events/clock.ts";
import { publishedAnswer, publishedWindow } from "#events/contextWindows.ts";
import { defaultPrice } from "#events/defaultPrices.ts";
import { toPicodollars } from "#events/money.ts";
import { perToken, priceAt, type ModelPrice } from "#events/price.ts";
import { formatOf } from "#events/provider.ts";
import { sizeOfFiles, type RequestSize } from "#events/requestSize.ts";
import type { Prompt } from "#events/thread.ts";
import { listPrices } from "../prices/query.ts";
import type { Db } from "../projection.ts";
import { listProviders, type ProviderRow } from "../providers/query.ts";

/** Tokens of an answer whose request sets no limit, of a model whose limit is not known. */
const DEFAULT_ANSWER_TOKENS = 4_096;

/** Of a picture, whatever its size. Providers count up to about 4,800 for most models. */
const PICTURE_TOKENS = 5_000;

/** What is known of a model that has a price. */
export interface PricedModel {
  /** Valid now. */
  price: ModelPrice;
  /** Tokens of its longest answer. */
  answer: number | undefined;
  /** Tokens that it reads in one request: it refuses a longer one. */
  window: number | undefined;
}

/** Undefined where the price of a model is not known. */
export type PriceOf = (model: string) => PricedModel | undefined;

/** What the models of an organization cost, as a turn will find it. */
export async function readPrices(db: Db, organization: string): Promise<PriceOf> {
  const [prices, providers] = await Promise.all([listPrices(db, organization), listProviders(db, organization)]);
  const own = new Map(prices.map((row) => [row.model, row.prices]));
  const settings = new Map<string, Partial<ProviderRow>>(providers.map((row) => [row.name, row]));
  return remember((model) => {
    const [provider = ""] = model.split("/", 1);
    const name = model.slice(provider.length);
    const { base_url = null, format, context_windows } = settings.get(provider) ?? {};
    const published = `${formatOf({ provider, format })}${name}`;
    const set = own.get(model);
    const price = set ? priceAt(set, currentTime()) : base_url === null ? defaultPrice(published) : undefined;
    if (!price) return undefined;
    const window = context_windows?.[name.slice(1)] ?? publishedWindow(published);
    return { price, window, answer: publishedAnswer(published) };
  });
}

/** A new price counts for what is held back up to a second late. Costs never use a price from here. */
const MAX_PRICE_AGE_MS = 1_000;

/** Keeps what was found: every turn asks twice for the same few models. */
function remember(find: PriceOf): PriceOf {
  const found = new Map<string, PricedModel | undefined>();
  let since = Number.NEGATIVE_INFINITY;
  return (model) => {
    const now = performance.now();
    if (now - since >= MAX_PRICE_AGE_MS) {
      found.clear();
      since = now;
    }
    if (!found.has(model)) found.set(model, find(model));
    return found.get(model);
  };
}

const dearest = (...prices: (string | undefined)[]): bigint =>
  prices.map((price) => perToken(price ?? "0")).reduce((most, price) => (price > most ? price : most), 0n);

/** The most that a token of the prompt, one of the answer and a request cost, in picodollars. */
interface WorstPrice {
  input: bigint;
  output: bigint;
  per_call: bigint;
}
/** Every turn reads the same prices for a second. */
const parsed = new WeakMap<ModelPrice, WorstPrice>();

function worstPrice(price: ModelPrice): WorstPrice {
  const known = parsed.get(price);
  if (known) return known;
  const { input, cached_input, cache_write, output, reasoning, per_call = "0" } = price;
  const worst = {
    input: dearest(input, cached_input, cache_write),
    output: dearest(output, reasoning),
    per_call: toPicodollars(per_call),
  };
  parsed.set(price, worst);
  return worst;
}

interface AttachedFile {
  mime_type: string;
  bytes: number;
}

/** What a turn's own request sends. Earlier messages of its thread and the server's tools are missing: the process that runs it adds them. */
export function sizeOfPrompt(
  { instructions, agent, client_tools, response_format, max_output_tokens }: Omit<Prompt, "messages">,
  texts: string[],
  files: AttachedFile[],
): RequestSize {
  const asJson = client_tools || response_format ? JSON.stringify([client_tools, response_format]) : "";
  const all = [...texts, instructions ?? "", agent?.instructions ?? "", asJson];
  const { bytes, pictures } = sizeOfFiles(files);
  return { bytes: bytes + all.reduce((sum, text) => sum + Buffer.byteLength(text), 0), pictures, max_output_tokens };
}

/**
 * The most that one request costs, in picodollars, at the dearest of its models: each byte a token, up to the window of the model,
 * and an answer of full length. A model without a price counts nothing.
 */
export function reserveFor(priceOf: PriceOf, models: string[], size: RequestSize): bigint {
  const asked = size.bytes + size.pictures * PICTURE_TOKENS;
  return models
    .flatMap((model) => priceOf(model) ?? [])
    .map(({ price, answer = DEFAULT_ANSWER_TOKENS, window = asked }) => {
      const { input, output, per_call } = worstPrice(price);
      const tokens = { asked: BigInt(Math.min(asked, window)), answer: BigInt(size.max_output_tokens ?? answer) };
      return tokens.asked * input + tokens.answer * output + per_call;
    })
    .reduce((most, cost) => (cost > most ? cost : most), 0n);
}
