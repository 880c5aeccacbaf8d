import type { Part } from "@google/genai";
import { z } from "zod";
import type { ToolCall } from "#events/thread.ts";
import { parseObject } from "../wire/json.ts";

const signature = z.string().optional();

/**
 * The parts of an answer with tool calls, in order, with the signatures that Google requires back in the same places. Text is
 * stored as a range of the answer's text, a call as its index.
 */
const State = z.array(
  z.union([
    /** From and to, in UTF-16 units. */
    z.object({ text: z.tuple([z.int().nonnegative(), z.int().nonnegative()]), signature }),
    /** `id`: Google's own, if it gave one. */
    z.object({ call: z.int().nonnegative(), id: z.string().optional(), signature }),
    z.object({ thought: z.string(), signature }),
    /** A call or an answer of Google's own tool, unchanged. */
    z.object({ own: z.record(z.string(), z.unknown()) }),
  ]),
);
export type State = z.infer<typeof State>;

const withSignature = (part: Part, thoughtSignature: string | undefined): Part =>
  thoughtSignature === undefined ? part : { ...part, thoughtSignature };

/** The parts of an answer with tool calls, in their original order. Without usable state: text, then calls. */
export function assistantParts(text: string, calls: ToolCall[], opaque: unknown): Part[] {
  const state = State.safeParse(opaque).data ?? [];
  const knownCalls = state.flatMap((part) => ("call" in part ? part.call : []));
  const isComplete = calls.every((_, n) => knownCalls.includes(n));
  const order: State = isComplete ? state : [{ text: [0, text.length] }, ...calls.map((_, call) => ({ call }))];
  return order.flatMap((part): Part[] => {
    if ("own" in part) return [part.own];
    if ("thought" in part) return [withSignature({ text: part.thought, thought: true }, part.signature)];
    if ("text" in part) {
      const partText = text.slice(...part.text);
      return partText === "" && part.signature === undefined ? [] : [withSignature({ text: partText }, part.signature)];
    }
    const call = calls[part.call];
    if (!call) return [];
    const args = parseObject(call.arguments) ?? {};
    const functionCall = { ...(part.id !== undefined && { id: part.id }), name: call.name, args };
    return [withSignature({ functionCall }, part.signature)];
  });
}

/** Google's own id of a call; undefined if it has none. */
export const providerCallId = (opaque: unknown, call: number): string | undefined =>
  (State.safeParse(opaque).data ?? []).flatMap((part) =>
    "call" in part && part.call === call ? (part.id ?? []) : [],
  )[0];
