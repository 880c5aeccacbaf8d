import { LARGEST_WINDOW } from "#events/contextWindows.ts";
import { isSentAsPicture, type SentFile } from "#events/requestSize.ts";
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

/** Typical tokens per file: providers count pictures by width and height, and a PDF page as a picture and its text. */
const USUAL_PICTURE = 1_500;
const BYTES_OF_TOKEN = { text: 4, others: 30 };

function probableTokens({ mime_type, bytes }: SentFile): number {
  if (isSentAsPicture(mime_type)) return USUAL_PICTURE;
  return Math.ceil(bytes / BYTES_OF_TOKEN[mime_type.startsWith("text/") ? "text" : "others"]);
}

/**
 * Estimates the tokens of a request that broke off. Files count a typical number (ADR 98). The result is at most `window`, the
 * model's context window in tokens, or the largest known one.
 */
export async function estimateUsage(
  { countTokens, countPrompt }: TokenCounter,
  { request, files, answer }: UnreportedRequest,
  window = LARGEST_WINDOW,
): Promise<Usage> {
  const [texts, completion_tokens] = await Promise.all([countPrompt(request), countTokens(answer)]);
  const room = Math.max(0, window - texts);
  const ofFiles = files.reduce((sum, file) => sum + probableTokens(file), 0);
  return { ...NO_USAGE, prompt_tokens: texts + Math.min(ofFiles, room), completion_tokens };
}
