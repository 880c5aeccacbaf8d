import { z } from "zod";
import { addMoney, Money } from "./money.ts";

/** Tokens of a whole turn. Prompt tokens include the cached ones, completion tokens the reasoning ones. */
export const Usage = z.object({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  cached_tokens: z.int(),
  /** Prompt tokens that the provider stored in its cache for later requests, if it reports them. */
  cache_write_tokens: z.int().optional(),
  reasoning_tokens: z.int(),
  /** What these tokens cost at the prices when they were used. Absent, never zero, if the price of a part is unknown. */
  cost: Money.optional(),
});
export type Usage = z.infer<typeof Usage>;
export const NO_USAGE: Usage = { prompt_tokens: 0, completion_tokens: 0, cached_tokens: 0, reasoning_tokens: 0 };

/** Where in a document a source is. Absent for web pages, and in events of releases before this field. */
export const PlaceInDocument = z
  .object({
    document_id: z.string(),
    version: z.int().describe("The text of the document that was read."),
    seq: z.int().describe("The passage, or the first of several."),
    page: z.int().describe("From 1; absent if the type has no pages."),
    start: z.int().describe("Where it begins in that text, in UTF-16 code units."),
    end: z.int(),
  })
  .partial();
export type PlaceInDocument = z.infer<typeof PlaceInDocument>;

/** A source that a tool consulted. */
export const Source = z.object({ url: z.string(), title: z.string(), ...PlaceInDocument.shape });
export type Source = z.infer<typeof Source>;

/** A cited source. The indexes count UTF-16 code units of the whole answer. */
export const Citation = Source.extend({ start_index: z.int(), end_index: z.int() });
export type Citation = z.infer<typeof Citation>;

/** Picks the place fields of a source. */
export const placeOf = ({ document_id, version, seq, page, start, end }: PlaceInDocument): PlaceInDocument => ({
  ...(document_id !== undefined && { document_id, version, seq, start, end }),
  ...(page !== undefined && { page }),
});

/** A tool call that the model requests. The arguments should be JSON, but the model may send anything. */
export const ToolCall = z.object({
  id: z.string(),
  name: z.string(),
  arguments: z.string(),
  /** The tool is the caller's own: it does not run here, and a later turn brings its result. */
  client: z.literal(true).optional(),
});
export type ToolCall = z.infer<typeof ToolCall>;

/** The output of the model. Stored events, frames and rows call it `said`. */
export const TurnOutput = z.object({
  text: z.string(),
  reasoning: z.string(),
  citations: z.array(Citation),
  /** Why the model or its provider refused to answer. */
  refusal: z.string().optional(),
  /** Calls to the caller's own tools, which end the turn. */
  calls: z.array(ToolCall).optional(),
});
export type TurnOutput = z.infer<typeof TurnOutput>;
export const NO_OUTPUT: TurnOutput = { text: "", reasoning: "", citations: [] };

/** What separates the texts of two blocks or rounds of an answer: a blank line, or nothing if white space already does. */
export const blockSeparator = (before: string, after: string): string =>
  before === "" || after === "" || /\s$/.test(before) || /^\s/.test(after) ? "" : "\n\n";

/** The model's answer as the conversation stores it: its text, or its refusal. */
export const answerText = ({ text, refusal }: Pick<TurnOutput, "text" | "refusal">): string =>
  [text, refusal].filter(Boolean).join("\n\n");

const isCounted = ({ prompt_tokens, completion_tokens }: Usage): boolean => prompt_tokens > 0 || completion_tokens > 0;

/** Adds the costs of two parts. A part without tokens costs nothing. Undefined if a part with tokens has no known cost. */
function addCosts(sum: Usage, more: Usage): Money | undefined {
  if (!isCounted(sum)) return more.cost;
  if (!isCounted(more)) return sum.cost;
  return sum.cost === undefined || more.cost === undefined ? undefined : addMoney(sum.cost, more.cost);
}

/** Adds two usages. The sum has no cost if the cost of a part with tokens is unknown. */
export function addUsage(sum: Usage, more: Usage): Usage {
  const cache_write_tokens = (sum.cache_write_tokens ?? 0) + (more.cache_write_tokens ?? 0);
  const cost = addCosts(sum, more);
  return {
    prompt_tokens: sum.prompt_tokens + more.prompt_tokens,
    completion_tokens: sum.completion_tokens + more.completion_tokens,
    cached_tokens: sum.cached_tokens + more.cached_tokens,
    ...(cache_write_tokens > 0 && { cache_write_tokens }),
    reasoning_tokens: sum.reasoning_tokens + more.reasoning_tokens,
    ...(cost !== undefined && { cost }),
  };
}
