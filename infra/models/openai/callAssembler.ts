import { z } from "zod";
import type { ToolCall } from "#events/thread.ts";
import { requireFewCalls, type CallBatch } from "../wire/output.ts";
import type { CallChunk, AnswerPiece } from "./answer.ts";

/**
 * State that some compatible providers require back with their calls: DeepSeek its reasoning, Gemini a signature per call. OpenAI
 * itself sends neither.
 */
const State = z.object({
  reasoning_content: z.string().optional(),
  /** By index of the call. */
  extra_content: z.array(z.unknown()).optional(),
});

/** The state stored with calls; empty if there was none. */
export const parseState = (opaque: unknown): z.infer<typeof State> => State.safeParse(opaque).data ?? {};

type PartialCall = ToolCall & { extra: unknown };

/** The calls of a complete answer, and the state to send back with their results; undefined without calls. */
function toBatch(calls: PartialCall[], reasoning: string): CallBatch | undefined {
  if (calls.length === 0) return undefined;
  const extra_content = calls.map(({ extra }) => extra ?? null);
  const state = {
    ...(reasoning !== "" && { reasoning_content: reasoning }),
    ...(extra_content.some((extra) => extra !== null) && { extra_content }),
  };
  return {
    calls: calls.map(({ id, name, arguments: args }) => ({ id, name, arguments: args || "{}" })),
    ...(Object.keys(state).length > 0 && { opaque: state }),
  };
}

/** Whether a chunk begins another call although its index is taken. Servers that give each chunk a new id name only the first one. */
const beginsAnother = (call: PartialCall, { id, function: part }: CallChunk): boolean =>
  Boolean(id && part?.name) && call.id !== "" && call.id !== id;

/** Assembles the calls of an answer; the chunks of a streamed call share an index. Ollama and others give all calls the same. */
export function createCallAssembler() {
  /** In the order in which they began. */
  const calls: { index: number; call: PartialCall }[] = [];
  /** The newest call of each index. */
  const newest = new Map<number, PartialCall>();
  let reasoning = "";
  let lastIndex = -1;

  /** Servers without indexes send whole calls, or continue the last call in chunks without an id. */
  const indexOf = ({ index, id }: CallChunk): number => index ?? (id || lastIndex < 0 ? newest.size : lastIndex);

  function begin(index: number): PartialCall {
    const call: PartialCall = { id: "", name: "", arguments: "", extra: undefined };
    calls.push({ index, call });
    newest.set(index, call);
    requireFewCalls(calls.length);
    return call;
  }

  const addChunk = (chunk: CallChunk): void => {
    lastIndex = indexOf(chunk);
    const known = newest.get(lastIndex);
    const call = known && !beginsAnother(known, chunk) ? known : begin(lastIndex);
    call.id ||= chunk.id ?? "";
    call.name ||= chunk.function?.name ?? "";
    call.arguments += chunk.function?.arguments ?? "";
    call.extra ??= chunk.extra_content;
  };

  return {
    add(piece: AnswerPiece): void {
      reasoning += piece.reasoning_content;
      piece.calls.forEach(addChunk);
    },
    /** Sorted by index. Calls without a name are dropped. */
    batch(): CallBatch | undefined {
      const sorted = calls.toSorted((a, b) => a.index - b.index).map(({ call }) => call);
      return toBatch(
        sorted.filter(({ name }) => name !== ""),
        reasoning,
      );
    },
  };
}
