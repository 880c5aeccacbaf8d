import { fromPicodollars, toPicodollars } from "#events/money.ts";
import { picodollarsPerToken, type ModelPrice } from "#events/price.ts";
import type { Usage } from "#events/thread.ts";

/** Providers may report nonsense: a part is at most the whole, and never negative. */
const count = (tokens: number, most: number): number => Math.max(0, Math.min(tokens, most));

/**
 * Adds the cost of one request, or of several, to its usage. Without a price, or without reported tokens, the cost is unknown and left
 * out.
 */
export function withCost(usage: Usage, price: ModelPrice | undefined, requests = 1): Usage {
  const prompt = Math.max(0, usage.prompt_tokens);
  const completion = Math.max(0, usage.completion_tokens);
  if (!price || prompt + completion === 0) return usage;
  const cached = count(usage.cached_tokens, prompt);
  const written = count(usage.cache_write_tokens ?? 0, prompt - cached);
  const reasoning = count(usage.reasoning_tokens, completion);
  const { input, output, cached_input = input, cache_write = input, per_call = "0" } = price;
  const parts: [tokens: number, price: string][] = [
    [prompt - cached - written, input],
    [cached, cached_input],
    [written, cache_write],
    [completion - reasoning, output],
    [reasoning, price.reasoning ?? output],
  ];
  const tokens = parts.reduce((sum, [amount, each]) => sum + BigInt(amount) * picodollarsPerToken(each), 0n);
  return { ...usage, cost: fromPicodollars(tokens + BigInt(requests) * toPicodollars(per_call)) };
}
