import { LARGEST_WINDOW } from "#events/contextWindows.ts";
import { isSentAsPicture, type SentFile } from "#events/requestSize.ts";
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
  files: SentFile[];
  /** What has arrived of the answer. */
  answer: string;
}

/** What is usual: providers count pictures by width and height, and pages of a PDF as a picture and their text. */
const USUAL_PICTURE = 1_500;
const BYTES_OF_TOKEN = { text: 4, others: 30 };

function probableTokens({ mime_type, bytes }: SentFile): number {
  if (isSentAsPicture(mime_type)) return USUAL_PICTURE;
  return Math.ceil(bytes / BYTES_OF_TOKEN[mime_type.startsWith("text/") ? "text" : "others"]);
}

/**
 * Tokens of a request that broke off. Its files have as many as is usual (ADR 98), up to the `window` of the model, in tokens; of
 * one whose window is not known, up to the largest.
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
