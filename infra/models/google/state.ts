import type { Part } from "@google/genai";
import { z } from "zod";
import type { ToolCall } from "#events/thread.ts";

const signature = z.string().optional();

/**
 * The parts of an answer that asked for tools, in their order, with the signatures that Google wants to see again where they were:
 * the words of a part are told by where they stand in the answer's text, a call by its number.
 */
const State = z.array(
  z.union([
    /** From and to, in UTF-16 units. */
    z.object({ text: z.tuple([z.int().nonnegative(), z.int().nonnegative()]), signature }),
    /** `id`: the provider's own, where it gave one. */
    z.object({ call: z.int().nonnegative(), id: z.string().optional(), signature }),
    z.object({ thought: z.string(), signature }),
    /** What a tool of the provider's own was asked, or answered, as it came. */
    z.object({ own: z.record(z.string(), z.unknown()) }),
  ]),
);
export type State = z.infer<typeof State>;

export function argsOf({ arguments: args }: ToolCall): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(args);
    return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed) ? { ...parsed } : {};
  } catch {
    return {};
  }
}

const signed = (part: Part, thoughtSignature: string | undefined): Part =>
  thoughtSignature === undefined ? part : { ...part, thoughtSignature };

/** An answer that asked for tools as its parts, in the order in which they came. */
export function partsOf(text: string, calls: ToolCall[], opaque: unknown): Part[] {
  const state = State.safeParse(opaque).data ?? [];
  const kept = state.flatMap((part) => ("call" in part ? part.call : []));
  const whole = calls.every((_, n) => kept.includes(n));
  const order: State = whole ? state : [{ text: [0, text.length] }, ...calls.map((_, call) => ({ call }))];
  return order.flatMap((part): Part[] => {
    if ("own" in part) return [part.own];
    if ("thought" in part) return [signed({ text: part.thought, thought: true }, part.signature)];
    if ("text" in part) {
      const words = text.slice(...part.text);
      return words === "" && part.signature === undefined ? [] : [signed({ text: words }, part.signature)];
    }
    const call = calls[part.call];
    if (!call) return [];
    const functionCall = { ...(part.id !== undefined && { id: part.id }), name: call.name, args: argsOf(call) };
    return [signed({ functionCall }, part.signature)];
  });
}

/** The provider's own id of a call. */
export const ownId = (opaque: unknown, call: number): string | undefined =>
  (State.safeParse(opaque).data ?? []).flatMap((part) =>
    "call" in part && part.call === call ? (part.id ?? []) : [],
  )[0];
