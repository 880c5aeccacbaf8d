import { addFileTokens, type SentFile } from "#events/requestSize.ts";
import { NO_USAGE, type Usage } from "#events/thread.ts";
import type { ModelRequest } from "./model.ts";

/** Counts tokens of answers whose provider reported no usage, because they were stopped or broke off. */
export interface TokenCounter {
  countTokens(text: string): Promise<number>;
  /** Does not count the prompt's files. */
  countPrompt(request: ModelRequest): Promise<number>;
}

/** A request that its provider worked on without reporting usage. */
export interface UnreportedRequest {
  request: ModelRequest;
  /** The files of the request, whose bytes may be freed by now. */
  files: SentFile[];
  /** The part of the answer that arrived. */
  answer: string;
}

/** Estimates the tokens of a request that broke off. `window`: the model's context window in tokens; absent: unknown. */
export async function estimateUsage(
  { countTokens, countPrompt }: TokenCounter,
  { request, files, answer }: UnreportedRequest,
  window?: number,
): Promise<Usage> {
  const [texts, completion_tokens] = await Promise.all([countPrompt(request), countTokens(answer)]);
  return { ...NO_USAGE, prompt_tokens: addFileTokens(texts, files, window), completion_tokens };
}
