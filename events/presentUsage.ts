import type { Money } from "./money.ts";
import type { Usage } from "./turnOutput.ts";

/* Usage as the two APIs present it. Steps of workflows see the same fields as callers. */

/** Empty if the cost is unknown. */
const costOf = ({ cost }: Usage): { cost?: Money } => (cost === undefined ? {} : { cost });

/** Of a chat completion. */
export const completionUsage = (usage: Usage) => ({
  prompt_tokens: usage.prompt_tokens,
  completion_tokens: usage.completion_tokens,
  total_tokens: usage.prompt_tokens + usage.completion_tokens,
  prompt_tokens_details: { cached_tokens: usage.cached_tokens },
  completion_tokens_details: { reasoning_tokens: usage.reasoning_tokens },
  ...costOf(usage),
});

/** Of an agent's response. */
export const responseUsage = (usage: Usage) => ({
  input_tokens: usage.prompt_tokens,
  input_tokens_details: { cached_tokens: usage.cached_tokens, cache_write_tokens: usage.cache_write_tokens ?? 0 },
  output_tokens: usage.completion_tokens,
  output_tokens_details: { reasoning_tokens: usage.reasoning_tokens },
  total_tokens: usage.prompt_tokens + usage.completion_tokens,
  ...costOf(usage),
});
