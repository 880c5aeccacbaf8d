import type { Prompt } from "#events/thread.ts";

/** Of a token, roughly, in languages with an alphabet. */
const CHARACTERS_PER_TOKEN = 4;

/** A rough estimate of a turn's tokens before it begins: its texts, and the longest answer if the request limits it. Earlier messages of the thread are missing. */
export function estimateTokens(
  { instructions, agent, max_output_tokens }: Omit<Prompt, "messages">,
  texts: string[],
): number {
  const lengths = [instructions ?? "", agent?.instructions ?? "", ...texts].map(({ length }) => length);
  return Math.ceil(lengths.reduce((sum, length) => sum + length, 0) / CHARACTERS_PER_TOKEN) + (max_output_tokens ?? 0);
}
