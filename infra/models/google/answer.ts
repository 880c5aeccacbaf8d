import { z } from "zod";
import type { FinishReason, Usage } from "#events/thread.ts";
import { ModelError } from "#services/turns/model.ts";
import { nullIfInvalid, StrictTokenCount, TokenCount } from "../wire/json.ts";

/* The chunks of a streamed answer, with the fields that we read. */

const Text = nullIfInvalid(z.string());
const AnyObject = nullIfInvalid(z.record(z.string(), z.unknown()));

const FunctionCall = z.object({
  id: nullIfInvalid(z.string().min(1)),
  name: z.string().min(1),
  args: z.record(z.string(), z.unknown()).catch({}),
});
const Part = z.object({
  text: Text,
  thought: nullIfInvalid(z.boolean()),
  thoughtSignature: Text,
  functionCall: nullIfInvalid(FunctionCall),
  toolCall: AnyObject,
  toolResponse: AnyObject,
});
export type Part = z.infer<typeof Part>;

/** Each item of a list is validated separately, and a server may send hundreds of thousands of empty ones. */
const MAX_LISTED = 1_000;

/** The items that match the schema, among the first MAX_LISTED. */
const listOf = <T extends z.ZodType>(schema: T) =>
  z
    .array(z.unknown())
    .transform((items) =>
      items.slice(0, MAX_LISTED).flatMap((item) => {
        const read = schema.safeParse(item);
        return read.success ? [read.data] : [];
      }),
    )
    .catch([]);

const ReadPage = z.object({ retrievedUrl: z.string().min(1), urlRetrievalStatus: z.string() });
const CitedPage = z.object({ web: z.object({ uri: z.string(), title: z.string().min(1) }) });

const Candidate = z.object({
  content: nullIfInvalid(z.object({ parts: listOf(Part) })),
  finishReason: nullIfInvalid(z.string().min(1)),
  continuationToken: nullIfInvalid(z.string().min(1)),
  urlContextMetadata: nullIfInvalid(z.object({ urlMetadata: listOf(ReadPage) })),
  groundingMetadata: nullIfInvalid(z.object({ groundingChunks: listOf(CitedPage) })),
});
export type Candidate = z.infer<typeof Candidate>;

const WireUsage = z.object({
  promptTokenCount: StrictTokenCount,
  candidatesTokenCount: TokenCount,
  toolUsePromptTokenCount: TokenCount,
  cachedContentTokenCount: TokenCount,
  thoughtsTokenCount: TokenCount,
});

export type Chunk = z.infer<typeof Chunk>;
export const Chunk = z.object({
  candidates: listOf(Candidate),
  /** A blocked prompt gets no candidates. */
  promptFeedback: nullIfInvalid(z.object({ blockReason: z.string().min(1) })),
  usageMetadata: nullIfInvalid(WireUsage),
});

const FINISH_REASONS = new Map<string, FinishReason>([
  ["MAX_TOKENS", "length"],
  ["CONTINUATION", "length"],
  ...["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"].map(
    (reason) => [reason, "content_filter"] as const,
  ),
]);
/** The model's output was unreadable; a retry may succeed. */
const MALFORMED = new Set(["MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL"]);

/** Any other reason still means that the model has finished. Throws a ModelError if the reason means that there is no answer. */
export function toFinishReason(raw: string, hasCalls: boolean): FinishReason {
  if (MALFORMED.has(raw)) throw new ModelError("cut", `The model's answer could not be read (${raw}).`);
  return FINISH_REASONS.get(raw) ?? (hasCalls ? "tool_calls" : "stop");
}

/** Google counts thoughts separately from the answer, and pages it read separately from the prompt. */
export function toUsage(raw: z.infer<typeof WireUsage>): Usage {
  const reasoning_tokens = raw.thoughtsTokenCount ?? 0;
  return {
    prompt_tokens: raw.promptTokenCount + (raw.toolUsePromptTokenCount ?? 0),
    completion_tokens: (raw.candidatesTokenCount ?? 0) + reasoning_tokens,
    cached_tokens: raw.cachedContentTokenCount ?? 0,
    reasoning_tokens,
  };
}

/** The usage of all requests of an answer; undefined if the provider reported none. */
export const sumUsage = (usages: Usage[]): Usage | undefined =>
  usages.reduce<Usage | undefined>(
    (sum, usage) =>
      sum
        ? {
            prompt_tokens: sum.prompt_tokens + usage.prompt_tokens,
            completion_tokens: sum.completion_tokens + usage.completion_tokens,
            cached_tokens: sum.cached_tokens + usage.cached_tokens,
            reasoning_tokens: sum.reasoning_tokens + usage.reasoning_tokens,
          }
        : usage,
    undefined,
  );
