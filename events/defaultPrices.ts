import type { ModelPrice } from "./price.ts";

/** A published price that applies where an organization has set none. */
export interface DefaultPrice {
  /** `provider/model`: the model's name, and its dated names with the same price. */
  models: string[];
  price: ModelPrice;
  /** Where the provider publishes it. */
  source: string;
  /** The last day on which the price was checked. */
  as_of: string;
}

const AS_OF = "2025-11-01";
const OPENAI = { source: "https://openai.com/api/pricing", as_of: AS_OF };
const ANTHROPIC = { source: "https://claude.com/pricing", as_of: AS_OF };

const ofOpenAi = (models: string[], input: string, cached_input: string, output: string): DefaultPrice => ({
  models: models.map((name) => `openai/${name}`),
  price: { valid_from: null, input, cached_input, output },
  ...OPENAI,
});
const ofAnthropic = (
  models: string[],
  input: string,
  cached_input: string,
  cache_write: string,
  output: string,
): DefaultPrice => ({
  models: models.map((name) => `anthropic/${name}`),
  price: { valid_from: null, input, cached_input, cache_write, output },
  ...ANTHROPIC,
});

/**
 * A wrong price is worse than none. So the list leaves out models whose price was not certain, and those whose price depends on the
 * prompt's length or content (Gemini).
 */
export const DEFAULT_PRICES: readonly DefaultPrice[] = [
  ofOpenAi(["gpt-4o", "gpt-4o-2024-08-06", "gpt-4o-2024-11-20"], "2.5", "1.25", "10"),
  ofOpenAi(["gpt-4o-mini", "gpt-4o-mini-2024-07-18"], "0.15", "0.075", "0.6"),
  ofOpenAi(["gpt-4.1", "gpt-4.1-2025-04-14"], "2", "0.5", "8"),
  ofOpenAi(["gpt-4.1-mini", "gpt-4.1-mini-2025-04-14"], "0.4", "0.1", "1.6"),
  ofOpenAi(["gpt-4.1-nano", "gpt-4.1-nano-2025-04-14"], "0.1", "0.025", "0.4"),
  ofOpenAi(["gpt-5", "gpt-5-2025-08-07"], "1.25", "0.125", "10"),
  ofOpenAi(["gpt-5-mini", "gpt-5-mini-2025-08-07"], "0.25", "0.025", "2"),
  ofOpenAi(["gpt-5-nano", "gpt-5-nano-2025-08-07"], "0.05", "0.005", "0.4"),
  ofAnthropic(["claude-sonnet-4-5", "claude-sonnet-4-5-20250929"], "3", "0.3", "3.75", "15"),
  ofAnthropic(["claude-haiku-4-5", "claude-haiku-4-5-20251001"], "1", "0.1", "1.25", "5"),
];

const byModel = new Map(DEFAULT_PRICES.flatMap(({ models, price }) => models.map((model) => [model, price])));

export const defaultPrice = (model: string): ModelPrice | undefined => byModel.get(model);
