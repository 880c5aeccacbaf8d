import { z } from "zod";
import type { ContentBlockParam } from "@anthropic-ai/sdk/resources/messages";
import type { ToolCall } from "#events/thread.ts";

/**
 * The blocks of an answer that asked for tools, in their order: thinking as it came, which Anthropic wants to see again unaltered, and
 * where in the answer's text and among its calls the others stand.
 */
const State = z.array(
  z.union([
    z.object({ thinking: z.string(), signature: z.string() }),
    z.object({ redacted: z.string() }),
    /** From and to, in UTF-16 units. */
    z.object({ text: z.tuple([z.int().nonnegative(), z.int().nonnegative()]) }),
    z.object({ call: z.int().nonnegative() }),
  ]),
);
export type State = z.infer<typeof State>;

const textBlocks = (text: string): ContentBlockParam[] => (text.trim() === "" ? [] : [{ type: "text", text }]);

const inputOf = (call: ToolCall): unknown => {
  try {
    return JSON.parse(call.arguments);
  } catch {
    return {};
  }
};
/** Arguments that are no JSON object, of an answer that was cut, cannot go back. */
const callBlock = (call: ToolCall): ContentBlockParam => {
  const input = inputOf(call);
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
  return { type: "tool_use", id: call.id, name: call.name, input: isObject ? input : {} };
};

/** An answer that asked for tools as its blocks, in the order in which they came. */
export function blocksOf(text: string, calls: ToolCall[], opaque: unknown): ContentBlockParam[] {
  const state = State.safeParse(opaque).data ?? [];
  const kept = state.flatMap((block) => ("call" in block ? block.call : []));
  const whole = calls.every((_, n) => kept.includes(n));
  const order: State = whole
    ? state
    : [...state.filter(isThinking), { text: [0, text.length] }, ...calls.map((_, call) => ({ call }))];
  return order.flatMap((block): ContentBlockParam[] => {
    if ("thinking" in block) return [{ type: "thinking", ...block }];
    if ("redacted" in block) return [{ type: "redacted_thinking", data: block.redacted }];
    if ("text" in block) return textBlocks(text.slice(...block.text));
    const call = calls[block.call];
    return call ? [callBlock(call)] : [];
  });
}

const isThinking = (block: State[number]): boolean => "thinking" in block || "redacted" in block;

/** Whether an answer was thought about. */
export const hasThought = (opaque: unknown): boolean => (State.safeParse(opaque).data ?? []).some(isThinking);
