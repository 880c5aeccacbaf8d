import { z } from "zod";
import type { Citation, FinishReason, Usage } from "#events/thread.ts";

/* What is read of a provider's answer. Nothing is taken on trust: a compatible server may send anything. */

const lenient = <T extends z.ZodType>(schema: T) => schema.nullish().catch(null);
const Count = lenient(z.int().nonnegative());

const Annotation = z.object({
  url_citation: z.object({
    url: z.string(),
    title: z.string().catch(""),
    start_index: z.int().nonnegative().catch(0),
    end_index: z.int().nonnegative().catch(0),
  }),
});

/** Some servers send the text as a list of parts. */
const Text = z.union([
  z.string(),
  z.array(z.unknown()).transform((parts) => parts.map((part) => TextPart.safeParse(part).data?.text ?? "").join("")),
]);
const TextPart = z.object({ text: z.string() });

/** Of a streamed call, or of a whole one: servers leave out what they please. */
const Call = z.object({
  index: lenient(z.int().nonnegative()),
  id: lenient(z.string()),
  function: lenient(z.object({ name: lenient(z.string()), arguments: lenient(z.string()) })),
  extra_content: z.unknown().optional(),
});
export type CallPiece = z.infer<typeof Call>;

const Said = z.object({
  content: lenient(Text),
  refusal: lenient(z.string()),
  reasoning_content: lenient(z.string()),
  reasoning: lenient(z.string()),
  annotations: lenient(z.array(z.unknown())),
  tool_calls: lenient(z.array(z.unknown())),
});

const Choice = z.object({
  index: lenient(z.int()),
  delta: lenient(Said),
  message: lenient(Said),
  finish_reason: lenient(z.string()),
});

const WireUsage = z.object({
  prompt_tokens: Count,
  completion_tokens: Count,
  prompt_tokens_details: lenient(z.object({ cached_tokens: Count })),
  completion_tokens_details: lenient(z.object({ reasoning_tokens: Count })),
});

/** A whole answer or one piece of a streamed one. */
export const Answer = z.object({ choices: z.array(z.unknown()), usage: lenient(WireUsage) });

/** What the first choice of an answer, or of a piece of one, says; only one is ever asked for. */
export interface Piece {
  text: string;
  reasoning: string;
  citations: Citation[];
  calls: CallPiece[];
  /** What the reasoning came in, where a provider may want to see that again. */
  reasoning_content: string;
  finish_reason: string | null;
}

export function pieceOf(answer: z.infer<typeof Answer>): Piece | undefined {
  const choices = answer.choices.map((raw) => Choice.safeParse(raw).data);
  const choice = choices.find((one) => one !== undefined && (one.index ?? 0) === 0);
  if (!choice) return undefined;
  const said = choice.delta ?? choice.message;
  return {
    text: (said?.content ?? "") + (said?.refusal ?? ""),
    reasoning: said?.reasoning_content || said?.reasoning || "",
    citations: (said?.annotations ?? []).flatMap((raw) => Annotation.safeParse(raw).data?.url_citation ?? []),
    calls: (said?.tool_calls ?? []).flatMap((raw) => Call.safeParse(raw).data ?? []),
    reasoning_content: said?.reasoning_content ?? "",
    finish_reason: choice.finish_reason || null,
  };
}

const FINISH_REASONS = new Map<string, FinishReason>([
  ["length", "length"],
  ["content_filter", "content_filter"],
  ["tool_calls", "tool_calls"],
  ["function_call", "tool_calls"],
]);

/** A reason that nobody has heard of still means that the model was done. */
export const finishReason = (raw: string): FinishReason => FINISH_REASONS.get(raw) ?? "stop";

/** The provider's own count, or undefined when it gave none. */
export function usageOf(raw: z.infer<typeof WireUsage> | null | undefined): Usage | undefined {
  if (typeof raw?.prompt_tokens !== "number" || typeof raw.completion_tokens !== "number") return undefined;
  return {
    prompt_tokens: raw.prompt_tokens,
    completion_tokens: raw.completion_tokens,
    cached_tokens: raw.prompt_tokens_details?.cached_tokens ?? 0,
    reasoning_tokens: raw.completion_tokens_details?.reasoning_tokens ?? 0,
  };
}
