/** Tokens that a model reads and writes in one request, as its provider publishes them, by the beginning of its name. */
const WINDOWS: readonly [model: string, tokens: number][] = [
  ["openai/gpt-4o", 128_000],
  ["openai/gpt-4.1", 1_047_576],
  ["openai/gpt-5", 400_000],
  ["openai/o3", 200_000],
  ["openai/o4-mini", 200_000],
  ["anthropic/claude-", 200_000],
  ["google/gemini-2.", 1_048_576],
];

/** The context window of a model, undefined where it is not known. */
export const publishedWindow = (model: string): number | undefined =>
  WINDOWS.find(([beginning]) => model.startsWith(beginning))?.[1];
