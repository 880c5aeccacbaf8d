import type { Prompt } from "#events/thread.ts";

/** Characters per token, roughly, in alphabetic languages. */
export const CHARACTERS_PER_TOKEN = 4;

/**
 * Roughly estimates a turn's tokens before it begins: its texts, and the maximum answer if the request limits it. Does not include
 * earlier messages of the thread.
 */
export function estimateTokens(
  { instructions, agent, max_output_tokens }: Omit<Prompt, "messages">,
  texts: string[],
): number {
  const lengths = [instructions ?? "", agent?.instructions ?? "", ...texts].map(({ length }) => length);
  return Math.ceil(lengths.reduce((sum, length) => sum + length, 0) / CHARACTERS_PER_TOKEN) + (max_output_tokens ?? 0);
}
