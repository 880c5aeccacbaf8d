import type { Usage } from "#events/thread.ts";
import { ModelError, type ModelEvent, type ModelRequest } from "#services/turns/model.ts";
import { countPrompt, countTokens } from "../tokens.ts";

/** No model says more; what goes on without end is broken off. UTF-16 units, of everything that is kept of an answer. */
const MAX_SAID = 8 * 1024 * 1024;

/** Adds up what an answer says. Throws a ModelError when that has no end. */
export function createMeter(): (size: number) => void {
  let sum = 0;
  return (size) => {
    sum += size;
    if (sum > MAX_SAID) throw new ModelError("cut", "The provider's answer had no end.");
  };
}

/** Between the words of two blocks of an answer, which else would run into each other. */
export const seam = (before: string, after: string): string =>
  before === "" || after === "" || /\s$/.test(before) || /^\s/.test(after) ? "" : "\n\n";

/** Usage of an answer that its provider did not count. */
export async function estimate(request: ModelRequest, text: string, reasoning: string): Promise<Usage> {
  const [prompt_tokens, spoken, reasoning_tokens] = await Promise.all([
    countPrompt(request),
    countTokens(text),
    countTokens(reasoning),
  ]);
  return { prompt_tokens, completion_tokens: spoken + reasoning_tokens, cached_tokens: 0, reasoning_tokens };
}

/** What was said, in one piece of each kind. */
export function* whole({ text, reasoning }: { text: string; reasoning: string }): Generator<ModelEvent> {
  if (reasoning !== "") yield { type: "reasoning", text: reasoning };
  if (text !== "") yield { type: "text", text };
}
