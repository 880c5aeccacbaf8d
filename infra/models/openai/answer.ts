import { z } from "zod";
import type { Citation, FinishReason, Usage } from "#events/thread.ts";
import { nullIfInvalid, TokenCount } from "../wire/json.ts";

/* Chat completions, whole or in chunks, with the fields that we read. */

/** Maximum items read of choices and other lists. Each is validated separately, and a server may send hundreds of thousands of empty ones. */
const MAX_CHOICES = 8;
const MAX_LISTED = 1_000;

/** A list whose items are not validated here: zod would copy hundreds of thousands one by one. */
const List = z.custom<unknown[]>(Array.isArray);

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
  List.transform((parts) =>
    parts
      .slice(0, MAX_LISTED)
      .map((part) => TextPart.safeParse(part).data?.text ?? "")
      .join(""),
  ),
]);
const TextPart = z.object({ text: z.string() });

/** A whole call, or a chunk of a streamed one; servers leave out any of the fields. */
const CallChunk = z.object({
  index: nullIfInvalid(z.int().nonnegative()),
  id: nullIfInvalid(z.string()),
  function: nullIfInvalid(z.object({ name: nullIfInvalid(z.string()), arguments: nullIfInvalid(z.string()) })),
  extra_content: z.unknown().optional(),
});
export type CallChunk = z.infer<typeof CallChunk>;

const Message = z.object({
  content: nullIfInvalid(Text),
  refusal: nullIfInvalid(z.string()),
  reasoning_content: nullIfInvalid(z.string()),
  reasoning: nullIfInvalid(z.string()),
  annotations: nullIfInvalid(List),
  tool_calls: nullIfInvalid(List),
});

const Choice = z.object({
  index: nullIfInvalid(z.int()),
  delta: nullIfInvalid(Message),
  message: nullIfInvalid(Message),
  finish_reason: nullIfInvalid(z.string()),
});

const WireUsage = z.object({
  prompt_tokens: TokenCount,
  completion_tokens: TokenCount,
  prompt_tokens_details: nullIfInvalid(z.object({ cached_tokens: TokenCount })),
  completion_tokens_details: nullIfInvalid(z.object({ reasoning_tokens: TokenCount })),
});

/** A whole completion, or one chunk of a stream. */
export const Completion = z.object({ choices: List, usage: nullIfInvalid(WireUsage) });
export type Completion = z.infer<typeof Completion>;

/** The content of a completion's or a chunk's first choice; requests never ask for more. */
export interface AnswerPiece {
  text: string;
  refusal: string;
  reasoning: string;
  citations: Citation[];
  calls: CallChunk[];
  /** Reasoning in the field that some providers require back with the calls. */
  reasoning_content: string;
  finish_reason: string | null;
}

const first = (list: unknown[] | null | undefined): unknown[] => list?.slice(0, MAX_LISTED) ?? [];

/** Undefined if there is no first choice. */
export function toAnswerPiece(completion: Completion): AnswerPiece | undefined {
  const choices = completion.choices.slice(0, MAX_CHOICES).map((raw) => Choice.safeParse(raw).data);
  const choice = choices.find((one) => one !== undefined && (one.index ?? 0) === 0);
  if (!choice) return undefined;
  const message = choice.delta ?? choice.message;
  return {
    text: message?.content ?? "",
    refusal: message?.refusal ?? "",
    reasoning: message?.reasoning_content || message?.reasoning || "",
    citations: first(message?.annotations).flatMap((raw) => Annotation.safeParse(raw).data?.url_citation ?? []),
    calls: first(message?.tool_calls).flatMap((raw) => CallChunk.safeParse(raw).data ?? []),
    reasoning_content: message?.reasoning_content ?? "",
    finish_reason: choice.finish_reason || null,
  };
}

const FINISH_REASONS = new Map<string, FinishReason>([
  ["length", "length"],
  ["content_filter", "content_filter"],
  ["tool_calls", "tool_calls"],
  ["function_call", "tool_calls"],
]);

/** Any other reason still means that the model has finished. */
export const toFinishReason = (raw: string): FinishReason => FINISH_REASONS.get(raw) ?? "stop";

/** The provider's counts; undefined if it reported none. */
export function toUsage(raw: z.infer<typeof WireUsage> | null | undefined): Usage | undefined {
  if (typeof raw?.prompt_tokens !== "number" || typeof raw.completion_tokens !== "number") return undefined;
  return {
    prompt_tokens: raw.prompt_tokens,
    completion_tokens: raw.completion_tokens,
    cached_tokens: raw.prompt_tokens_details?.cached_tokens ?? 0,
    reasoning_tokens: raw.completion_tokens_details?.reasoning_tokens ?? 0,
  };
}
