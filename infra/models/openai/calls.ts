import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { ToolCall } from "#events/thread.ts";
import type { CallPiece, Piece } from "./answer.ts";

/**
 * What some providers want to see again beside their calls: DeepSeek its reasoning, Gemini a signature in each call. OpenAI
 * itself sends neither.
 */
const State = z.object({
  reasoning_content: z.string().optional(),
  /** By call. */
  extra_content: z.array(z.unknown()).optional(),
});

/** The state that came with calls; empty where there was none. */
export const stateOf = (opaque: unknown): z.infer<typeof State> => State.safeParse(opaque).data ?? {};

interface Asked {
  calls: ToolCall[];
  opaque?: unknown;
}

/** Puts the calls of an answer together from its pieces; those of a streamed call share an index. */
export function createCalls() {
  const calls = new Map<number, ToolCall & { extra: unknown }>();
  let reasoning = "";
  let last = -1;

  /** Servers that give no index send whole calls, or go on with the one before where they give no id. */
  const indexOf = ({ index, id }: CallPiece): number => index ?? (id || last < 0 ? calls.size : last);

  const addPiece = (piece: CallPiece): void => {
    last = indexOf(piece);
    const call = calls.get(last) ?? { id: "", name: "", arguments: "", extra: undefined };
    calls.set(last, call);
    call.id ||= piece.id ?? "";
    call.name ||= piece.function?.name ?? "";
    call.arguments += piece.function?.arguments ?? "";
    call.extra ??= piece.extra_content;
  };

  return {
    add({ calls: pieces, reasoning_content }: Piece): void {
      reasoning += reasoning_content;
      pieces.forEach(addPiece);
    },
    /** The calls in order; undefined when there are none. What has no name is no call. */
    all(): Asked | undefined {
      const named = [...calls].toSorted(([a], [b]) => a - b).flatMap(([, call]) => (call.name === "" ? [] : [call]));
      if (named.length === 0) return undefined;
      const extra_content = named.map(({ extra }) => extra ?? null);
      const state = {
        ...(reasoning !== "" && { reasoning_content: reasoning }),
        ...(extra_content.some((extra) => extra !== null) && { extra_content }),
      };
      return {
        calls: named.map(({ id, name, arguments: args }) => ({
          id: id || `call_${randomUUID()}`,
          name,
          arguments: args || "{}",
        })),
        ...(Object.keys(state).length > 0 && { opaque: state }),
      };
    },
  };
}
