import { LARGEST_WINDOW } from "#events/contextWindows.ts";
import { tokensOf, type SentSize } from "#events/requestSize.ts";
import { NO_USAGE, type Usage } from "#events/thread.ts";
import type { ModelRequest } from "./model.ts";

/** Counts for answers whose provider reported no usage, because they were stopped or cut off. */
export interface TokenCounter {
  countTokens(text: string): Promise<number>;
  /** Without its files. */
  countPrompt(request: ModelRequest): Promise<number>;
}

/** A request whose provider worked on it and reported no usage. */
export interface UnreportedRequest {
  request: ModelRequest;
  /** Of the request, whose bytes may be gone by now. */
  files: SentSize;
  /** What has arrived of the answer. */
  answer: string;
}

/**
 * Tokens of a request that broke off. Files count as budgets hold money back for them (ADR 98): with all that they may be, up to the
 * `window` of the model, in tokens; of one whose window is not known, up to the largest.
 */
export async function estimateUsage(
  { countTokens, countPrompt }: TokenCounter,
  { request, files, answer }: UnreportedRequest,
  window = LARGEST_WINDOW,
): Promise<Usage> {
  const [texts, completion_tokens] = await Promise.all([countPrompt(request), countTokens(answer)]);
  const room = Math.max(0, window - texts);
  return { ...NO_USAGE, prompt_tokens: texts + Math.min(tokensOf(files), room), completion_tokens };
}
