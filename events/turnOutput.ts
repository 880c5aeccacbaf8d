import { z } from "zod";
import { addMoney, Money } from "./money.ts";

/** Tokens of a whole turn. Prompt tokens include the cached ones, completion tokens the reasoning ones. */
export const Usage = z.object({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  cached_tokens: z.int(),
  /** Prompt tokens that the provider stored for later requests, where it counts them. */
  cache_write_tokens: z.int().optional(),
  reasoning_tokens: z.int(),
  /** What these tokens cost at the price of that moment. Absent where the price of a part is unknown; never zero instead. */
  cost: Money.optional(),
});
export type Usage = z.infer<typeof Usage>;
export const NO_USAGE: Usage = { prompt_tokens: 0, completion_tokens: 0, cached_tokens: 0, reasoning_tokens: 0 };

/** The part of a document that a source is: absent for pages of the web, and in events from before it was known. */
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

/** A source that a tool has used. */
export const Source = z.object({ url: z.string(), title: z.string(), ...PlaceInDocument.shape });
export type Source = z.infer<typeof Source>;

/** A cited source. The indexes count UTF-16 code units of the whole answer. */
export const Citation = Source.extend({ start_index: z.int(), end_index: z.int() });
export type Citation = z.infer<typeof Citation>;

/** Only the fields of a place. */
export const placeOf = ({ document_id, version, seq, page, start, end }: PlaceInDocument): PlaceInDocument => ({
  ...(document_id !== undefined && { document_id, version, seq, start, end }),
  ...(page !== undefined && { page }),
});

/** A tool call that the model requests. The arguments should be JSON, but the model may send anything. */
export const ToolCall = z.object({
  id: z.string(),
  name: z.string(),
  arguments: z.string(),
  /** The tool is the caller's own: it does not run here, and its result comes with a later turn. */
  client: z.literal(true).optional(),
});
export type ToolCall = z.infer<typeof ToolCall>;

/** The output of the model. */
export const TurnOutput = z.object({
  text: z.string(),
  reasoning: z.string(),
  citations: z.array(Citation),
  /** Why the model or its provider refused to answer. */
  refusal: z.string().optional(),
  /** Calls of the caller's own tools that the turn ends with. */
  calls: z.array(ToolCall).optional(),
});
export type TurnOutput = z.infer<typeof TurnOutput>;
export const NO_OUTPUT: TurnOutput = { text: "", reasoning: "", citations: [] };

/** A blank line between the texts of two blocks of an answer, or of two rounds, unless white space separates them already. */
export const blockSeparator = (before: string, after: string): string =>
  before === "" || after === "" || /\s$/.test(before) || /^\s/.test(after) ? "" : "\n\n";

/** What a conversation holds as the model's answer. */
export const answerText = ({ text, refusal }: Pick<TurnOutput, "text" | "refusal">): string =>
  [text, refusal].filter(Boolean).join("\n\n");

const isCounted = ({ prompt_tokens, completion_tokens }: Usage): boolean => prompt_tokens > 0 || completion_tokens > 0;

/** Parts without any token cost nothing. Undefined if the cost of another part is unknown. */
function addCosts(sum: Usage, more: Usage): Money | undefined {
  if (!isCounted(sum)) return more.cost;
  if (!isCounted(more)) return sum.cost;
  return sum.cost === undefined || more.cost === undefined ? undefined : addMoney(sum.cost, more.cost);
}

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
