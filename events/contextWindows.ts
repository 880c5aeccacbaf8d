/**
 * The limits that providers publish, by the beginning of a model's name: the context window (tokens of request and answer together), and
 * the longest answer.
 */
const WINDOWS: readonly [model: string, tokens: number, answer: number][] = [
  ["openai/gpt-4o", 128_000, 16_384],
  ["openai/gpt-4.1", 1_047_576, 32_768],
  ["openai/gpt-5", 400_000, 128_000],
  ["openai/o3", 200_000, 100_000],
  ["openai/o4-mini", 200_000, 100_000],
  ["anthropic/claude-", 200_000, 64_000],
  ["google/gemini-2.", 1_048_576, 65_536],
];

/** The largest context window in the list. */
export const LARGEST_WINDOW = Math.max(...WINDOWS.map(([, tokens]) => tokens));

/** The context window of a model; undefined if unknown. */
export const findContextWindow = (model: string): number | undefined =>
  WINDOWS.find(([beginning]) => model.startsWith(beginning))?.[1];

/** The longest answer of a model; undefined if unknown. */
export const findAnswerLimit = (model: string): number | undefined =>
  WINDOWS.find(([beginning]) => model.startsWith(beginning))?.[2];
