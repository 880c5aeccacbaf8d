import { z } from "zod";
import type { ContentBlockParam } from "@anthropic-ai/sdk/resources/messages";
import type { ToolCall } from "#events/thread.ts";
import { fitCallId } from "../wire/callId.ts";
import { parseObject } from "../wire/json.ts";

/**
 * The blocks of an answer with tool calls, in order. Thinking is stored unchanged, as Anthropic requires; text and calls are stored
 * as positions in the answer's text and indexes of its calls.
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

const toTextBlocks = (text: string): ContentBlockParam[] => (text.trim() === "" ? [] : [{ type: "text", text }]);

/** Replaces characters that Anthropic does not accept in the id of a call. */
export const toWireId = (id: string): string => fitCallId(id, /^[a-zA-Z0-9_-]+$/);

/** The API refuses arguments that are not a JSON object, as in an answer that was cut off. */
const toCallBlock = ({ id, name, arguments: args }: ToolCall): ContentBlockParam => ({
  type: "tool_use",
  id: toWireId(id),
  name,
  input: parseObject(args) ?? {},
});

/** The blocks of an answer with tool calls, in their original order. Without usable state: thinking, text, calls. */
export function assistantBlocks(text: string, calls: ToolCall[], opaque: unknown): ContentBlockParam[] {
  const state = State.safeParse(opaque).data ?? [];
  const knownCalls = state.flatMap((block) => ("call" in block ? block.call : []));
  const isComplete = calls.every((_, n) => knownCalls.includes(n));
  const order: State = isComplete
    ? state
    : [...state.filter(isThinking), { text: [0, text.length] }, ...calls.map((_, call) => ({ call }))];
  return order.flatMap((block): ContentBlockParam[] => {
    if ("thinking" in block) return [{ type: "thinking", ...block }];
    if ("redacted" in block) return [{ type: "redacted_thinking", data: block.redacted }];
    if ("text" in block) return toTextBlocks(text.slice(...block.text));
    const call = calls[block.call];
    return call ? [toCallBlock(call)] : [];
  });
}

const isThinking = (block: State[number]): boolean => "thinking" in block || "redacted" in block;

/** Whether the answer contained thinking. */
export const hasThinking = (opaque: unknown): boolean => (State.safeParse(opaque).data ?? []).some(isThinking);
