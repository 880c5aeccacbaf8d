import { NO_USAGE, type Usage } from "#events/thread.ts";
import type { ModelRequest } from "./model.ts";

/** Counts for answers whose provider reported no usage, because they were stopped or cut off. */
export interface TokenCounter {
  countTokens(text: string): Promise<number>;
  countPrompt(request: ModelRequest): Promise<number>;
}

export async function estimateUsage(
  { countTokens, countPrompt }: TokenCounter,
  request: ModelRequest,
  answer: string,
): Promise<Usage> {
  const [prompt_tokens, completion_tokens] = await Promise.all([countPrompt(request), countTokens(answer)]);
  return { ...NO_USAGE, prompt_tokens, completion_tokens };
}
