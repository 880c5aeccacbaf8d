import { currentTime } from "#events/clock.ts";
import { findAnswerLimit, findContextWindow } from "#events/contextWindows.ts";
import { defaultPrice } from "#events/defaultPrices.ts";
import { toPicodollars } from "#events/money.ts";
import { picodollarsPerToken, priceAt, type ModelPrice } from "#events/price.ts";
import { formatOf } from "#events/provider.ts";
import { bytesOfOffer, sizeOfFiles, type RequestSize } from "#events/requestSize.ts";
import type { Prompt } from "#events/thread.ts";
import { listPrices } from "../prices/query.ts";
import type { Db } from "../projection.ts";
import { listProviders, type ProviderRow } from "../providers/query.ts";

/** Assumed maximum tokens of an answer if neither the request nor the model has a known limit. */
const DEFAULT_ANSWER_TOKENS = 4_096;

/** Assumed tokens of a picture of any size. Providers count up to about 4,800 for most models. */
const PICTURE_TOKENS = 5_000;

/** What is known of a model with a price. */
export interface PricedModel {
  /** The current price. */
  price: ModelPrice;
  /** Maximum tokens of its answer. */
  answer: number | undefined;
  /** Its context window in tokens: it refuses longer requests. */
  window: number | undefined;
}

/** Undefined if the price of a model is unknown. */
export type PriceOf = (model: string) => PricedModel | undefined;

/** A provider for which the deployment has a credential. It applies where an organization has none of its own. */
export interface DeploymentProvider {
  provider: string;
  /** Null: the provider's own address. */
  base_url: string | null;
}

/** The prices of an organization's models that its turns will use. */
export async function readPrices(
  db: Db,
  organization: string,
  deployment: readonly DeploymentProvider[],
): Promise<PriceOf> {
  const [prices, providers] = await Promise.all([listPrices(db, organization), listProviders(db, organization)]);
  const own = new Map(prices.map((row) => [row.model, row.prices]));
  const settings = new Map<string, Partial<ProviderRow>>([
    ...deployment.map(({ provider, base_url }) => [provider, { base_url }] as const),
    ...providers.map((row) => [row.name, row] as const),
  ]);
  return remember((model) => {
    const [provider = ""] = model.split("/", 1);
    const name = model.slice(provider.length);
    const { base_url = null, format, context_windows } = settings.get(provider) ?? {};
    const published = `${formatOf({ provider, format })}${name}`;
    // a provider at an address of its own may have other prices than the published ones
    const usualPrice = base_url === null ? defaultPrice(published) : undefined;
    const price = priceAt(own.get(model) ?? [], currentTime()) ?? usualPrice;
    if (!price) return undefined;
    const window = context_windows?.[name.slice(1)] ?? findContextWindow(published);
    return { price, window, answer: findAnswerLimit(published) };
  });
}

/** Maximum age of prices for reservations. Costs are never computed from these. */
const MAX_PRICE_AGE_MS = 1_000;

/** Caches results, because every turn asks twice for the same few models. */
function remember(find: PriceOf): PriceOf {
  const found = new Map<string, PricedModel | undefined>();
  let since = Number.NEGATIVE_INFINITY;
  return (model) => {
    const now = performance.now();
    if (now - since >= MAX_PRICE_AGE_MS) {
      found.clear();
      since = now;
    }
    const known = found.get(model);
    if (known || found.has(model)) return known;
    const priced = find(model);
    found.set(model, priced);
    return priced;
  };
}

const dearest = (...prices: (string | undefined)[]): bigint =>
  prices.map((price) => picodollarsPerToken(price ?? "0")).reduce((most, price) => (price > most ? price : most), 0n);

/** Maximum prices of a prompt token, an answer token and a request, in picodollars. */
interface WorstPrice {
  input: bigint;
  output: bigint;
  per_call: bigint;
}
/** Parsed prices, which all turns of a second share. */
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

/** The size of a turn's own request. The process that runs it adds earlier messages of the thread and the server's tools. */
export function sizeOfPrompt(
  { instructions, agent, client_tools, response_format, max_output_tokens }: Omit<Prompt, "messages">,
  texts: string[],
  files: AttachedFile[],
): RequestSize {
  const { bytes: fileBytes, pictures } = sizeOfFiles(files);
  let bytes = fileBytes + bytesOfOffer(client_tools, response_format);
  for (const text of texts) bytes += Buffer.byteLength(text);
  if (instructions) bytes += Buffer.byteLength(instructions);
  if (agent) bytes += Buffer.byteLength(agent.instructions);
  return { bytes, pictures, max_output_tokens };
}

/**
 * The maximum cost of one request in picodollars, with the most expensive of its models: one token per byte, up to the model's
 * window, and an answer of maximum length. A model without a price costs nothing. Called twice for each turn: it builds no lists.
 */
export function reserveFor(priceOf: PriceOf, models: string[], size: RequestSize): bigint {
  const prompt = size.bytes + size.pictures * PICTURE_TOKENS;
  let most = 0n;
  for (const model of models) {
    const priced = priceOf(model);
    if (!priced) continue;
    const { price, answer = DEFAULT_ANSWER_TOKENS, window = prompt } = priced;
    const { input, output, per_call } = worstPrice(price);
    const read = BigInt(Math.min(prompt, window)) * input;
    const cost = read + BigInt(size.max_output_tokens ?? answer) * output + per_call;
    if (cost > most) most = cost;
  }
  return most;
}
