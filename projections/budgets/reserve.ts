import { defaultPrice } from "#events/defaultPrices.ts";
import { toPicodollars } from "#events/money.ts";
import { perToken, priceAt, type ModelPrice } from "#events/price.ts";
import { formatOf, type ProviderFormat } from "#events/provider.ts";
import type { Prompt } from "#events/thread.ts";
import { listPrices } from "../prices/query.ts";
import type { Db } from "../projection.ts";
import { listProviders } from "../providers/query.ts";

/** Tokens of an answer whose request sets no limit. */
const DEFAULT_ANSWER_TOKENS = 4_096;

/** The price that is valid now; undefined where it is not known. */
export type PriceOf = (model: string) => ModelPrice | undefined;

/** What the models of an organization cost, as a turn will find it. */
export async function readPrices(db: Db, organization: string): Promise<PriceOf> {
  const [prices, providers] = await Promise.all([listPrices(db, organization), listProviders(db, organization)]);
  const own = new Map(prices.map((row) => [row.model, row.prices]));
  const settings = new Map<string, { base_url: string | null; format?: ProviderFormat }>(
    providers.map((row) => [row.name, row]),
  );
  return (model) => {
    const set = own.get(model);
    if (set) return priceAt(set, Date.now());
    const [provider = ""] = model.split("/", 1);
    const { base_url = null, format } = settings.get(provider) ?? {};
    return base_url === null
      ? defaultPrice(`${formatOf({ provider, format })}${model.slice(provider.length)}`)
      : undefined;
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

/** What a request is reserved for. */
export interface ExpectedRequest {
  /** The model, or the targets of its alias. */
  models: string[];
  prompt: Omit<Prompt, "messages">;
  texts: string[];
}

/** No tokenizer makes more tokens than bytes. */
function promptTokens({ prompt, texts }: ExpectedRequest): number {
  const { instructions, agent, client_tools, response_format } = prompt;
  const asJson = client_tools || response_format ? JSON.stringify([client_tools, response_format]) : "";
  const more = [instructions ?? "", agent?.instructions ?? "", asJson];
  return [...texts, ...more].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

/**
 * The most that one request costs, in picodollars, at the dearest of its models: each byte of its texts a token, and an answer
 * of full length. Files, and what the thread holds already, are missing. A model without a price counts nothing.
 */
export function reserveFor(priceOf: PriceOf, request: ExpectedRequest): bigint {
  const answer = BigInt(request.prompt.max_output_tokens ?? DEFAULT_ANSWER_TOKENS);
  const asked = BigInt(promptTokens(request));
  return request.models
    .flatMap((model) => priceOf(model) ?? [])
    .map(worstPrice)
    .map(({ input, output, per_call }) => asked * input + answer * output + per_call)
    .reduce((most, cost) => (cost > most ? cost : most), 0n);
}
