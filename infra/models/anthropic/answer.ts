import { z } from "zod";
import type { FinishReason, Usage } from "#events/thread.ts";
import { nullIfInvalid, TokenCount } from "../wire/json.ts";

/* The events of a streamed answer, with the fields that we read. */

const Text = z.string().catch("");

const WireUsage = nullIfInvalid(
  z.object({
    input_tokens: TokenCount,
    cache_creation_input_tokens: TokenCount,
    cache_read_input_tokens: TokenCount,
    output_tokens: TokenCount,
    output_tokens_details: nullIfInvalid(z.object({ thinking_tokens: TokenCount })),
  }),
);
export type WireUsage = z.infer<typeof WireUsage>;

const Index = z.int().nonnegative();
const Block = z.union([
  z.object({ type: z.literal("text"), text: Text }),
  z.object({ type: z.literal("thinking"), thinking: Text, signature: Text }),
  z.object({ type: z.literal("redacted_thinking"), data: Text }),
  z.object({ type: z.literal("tool_use"), id: z.string().min(1), name: z.string().min(1), input: z.unknown() }),
]);
export type Block = z.infer<typeof Block>;
const Delta = z.union([
  z.object({ type: z.literal("text_delta"), text: z.string() }),
  z.object({ type: z.literal("thinking_delta"), thinking: z.string() }),
  z.object({ type: z.literal("signature_delta"), signature: z.string() }),
  z.object({ type: z.literal("input_json_delta"), partial_json: z.string() }),
]);
export type Delta = z.infer<typeof Delta>;

/** Events and blocks of other types are ignored. */
export const StreamEvent = z.union([
  z.object({ type: z.literal("message_start"), message: z.object({ usage: WireUsage }) }),
  z.object({ type: z.literal("content_block_start"), index: Index, content_block: Block }),
  z.object({ type: z.literal("content_block_delta"), index: Index, delta: Delta }),
  z.object({
    type: z.literal("message_delta"),
    delta: z.object({ stop_reason: nullIfInvalid(z.string().min(1)) }).catch({ stop_reason: null }),
    usage: WireUsage,
  }),
]);

const FINISH_REASONS = new Map<string, FinishReason>([
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["refusal", "content_filter"],
  ["tool_use", "tool_calls"],
]);

/** Claude sends no text when it refuses. */
export const toRefusal = (stop_reason: string | null): string | undefined =>
  stop_reason === "refusal" ? "The model refused to answer." : undefined;

/** Any other reason still means that the model has finished. */
export const toFinishReason = (raw: string): FinishReason => FINISH_REASONS.get(raw) ?? "stop";

/** Usage from the counts at the start and the end, which are running totals; undefined if the provider reported none. */
export function toUsage(start: WireUsage, end: WireUsage): Usage | undefined {
  const count = (name: "input_tokens" | "cache_creation_input_tokens" | "cache_read_input_tokens" | "output_tokens") =>
    end?.[name] ?? start?.[name];
  const input = count("input_tokens");
  const output = count("output_tokens");
  if (input == null || output == null) return undefined;
  const cached_tokens = count("cache_read_input_tokens") ?? 0;
  const cache_write_tokens = count("cache_creation_input_tokens") ?? 0;
  const details = end?.output_tokens_details ?? start?.output_tokens_details;
  return {
    prompt_tokens: input + cache_write_tokens + cached_tokens,
    completion_tokens: output,
    cached_tokens,
    ...(cache_write_tokens > 0 && { cache_write_tokens }),
    reasoning_tokens: Math.min(details?.thinking_tokens ?? 0, output),
  };
}
