import { z } from "zod";
import type { FinishReason, Usage } from "#events/thread.ts";
import { ModelError } from "#services/turns/model.ts";

/* What is read of an answer, piece by piece. Nothing is taken on trust: a compatible server may send anything. */

const lenient = <T extends z.ZodType>(schema: T) => schema.nullish().catch(null);
const Count = lenient(z.int().nonnegative());
const Text = lenient(z.string());
const Own = lenient(z.record(z.string(), z.unknown()));

const FunctionCall = z.object({
  id: lenient(z.string().min(1)),
  name: z.string().min(1),
  args: z.record(z.string(), z.unknown()).catch({}),
});
const Part = z.object({
  text: Text,
  thought: lenient(z.boolean()),
  thoughtSignature: Text,
  functionCall: lenient(FunctionCall),
  toolCall: Own,
  toolResponse: Own,
});
export type Part = z.infer<typeof Part>;

/** What can be read of a list. */
const listOf = <T extends z.ZodType>(schema: T) =>
  z
    .array(z.unknown())
    .transform((raw) =>
      raw.flatMap((one) => {
        const read = schema.safeParse(one);
        return read.success ? [read.data] : [];
      }),
    )
    .catch([]);

const PageRead = z.object({ retrievedUrl: z.string().min(1), urlRetrievalStatus: z.string() });
const PageCited = z.object({ web: z.object({ uri: z.string(), title: z.string().min(1) }) });

const Candidate = z.object({
  content: lenient(z.object({ parts: listOf(Part) })),
  finishReason: lenient(z.string().min(1)),
  urlContextMetadata: lenient(z.object({ urlMetadata: listOf(PageRead) })),
  groundingMetadata: lenient(z.object({ groundingChunks: listOf(PageCited) })),
});

const WireUsage = z.object({
  promptTokenCount: z.int().nonnegative(),
  candidatesTokenCount: Count,
  toolUsePromptTokenCount: Count,
  cachedContentTokenCount: Count,
  thoughtsTokenCount: Count,
});

export const Piece = z.object({
  candidates: listOf(Candidate),
  /** Nothing is answered to a question that was blocked. */
  promptFeedback: lenient(z.object({ blockReason: z.string().min(1) })),
  usageMetadata: lenient(WireUsage),
});

const FINISH_REASONS = new Map<string, FinishReason>([
  ["MAX_TOKENS", "length"],
  ["CONTINUATION", "length"],
  ...["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"].map(
    (reason) => [reason, "content_filter"] as const,
  ),
]);
/** What the model wrote could not be read: it may do better the next time. */
const MALFORMED = new Set(["MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL"]);

/** A reason that nobody has heard of still means that the model was done. Throws a ModelError for one that means no answer. */
export function finishReason(raw: string, calls: boolean): FinishReason {
  if (MALFORMED.has(raw)) throw new ModelError("cut", `The model's answer could not be read (${raw}).`);
  return FINISH_REASONS.get(raw) ?? (calls ? "tool_calls" : "stop");
}

/** Thoughts are counted apart from the answer, and pages that were read apart from the prompt. */
export function usageOf(raw: z.infer<typeof WireUsage>): Usage {
  const reasoning_tokens = raw.thoughtsTokenCount ?? 0;
  return {
    prompt_tokens: raw.promptTokenCount + (raw.toolUsePromptTokenCount ?? 0),
    completion_tokens: (raw.candidatesTokenCount ?? 0) + reasoning_tokens,
    cached_tokens: raw.cachedContentTokenCount ?? 0,
    reasoning_tokens,
  };
}
