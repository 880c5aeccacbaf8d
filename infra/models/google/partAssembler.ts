import type { ToolCall } from "#events/thread.ts";
import { blockSeparator } from "#events/turnOutput.ts";
import type { Part } from "./answer.ts";
import { requireFewCalls, type CallBatch, type Output, type OutputPiece } from "../wire/output.ts";
import type { State } from "./state.ts";

/** Whether the answer is at most one text followed by calls, which can be rebuilt without state. */
const isPlain = (state: State): boolean =>
  state.every(
    (part, n) => ("call" in part ? part.id === undefined : "text" in part && n === 0) && !("signature" in part),
  );

const signed = (signature: string | undefined) => (signature === undefined ? {} : { signature });

/** A call or an answer of Google's own tool, kept unchanged. */
const ownToolPart = ({ toolCall, toolResponse, thoughtSignature }: Part): State[number] => ({
  own: {
    ...(toolCall && { toolCall }),
    ...(toolResponse && { toolResponse }),
    ...(thoughtSignature != null && { thoughtSignature }),
  },
});

/** Assembles the parts of a streamed answer. Yields their text and thoughts as they arrive. */
export function createPartAssembler() {
  const output: Output = { text: "", reasoning: "" };
  const calls: ToolCall[] = [];
  const state: State = [];
  let lastType: OutputPiece["type"] | "other" | undefined;

  /** Appends a text. Returns the length of the separator before it, if something else preceded. */
  function* append(type: OutputPiece["type"], text: string): Generator<OutputPiece, number> {
    const separator = lastType === type ? "" : blockSeparator(output[type], text);
    output[type] += separator + text;
    lastType = type;
    if (text !== "") yield { type, text: separator + text };
    return separator.length;
  }

  function* addText(text: string, signature: string | undefined): Generator<OutputPiece> {
    const continues = lastType === "text";
    const start = output.text.length;
    const from = start + (yield* append("text", text));
    const before = state.at(-1);
    if (continues && signature === undefined && before && "text" in before && before.signature === undefined)
      before.text[1] = output.text.length;
    else state.push({ text: [from, output.text.length], ...signed(signature) });
  }

  function addCall({ id, name, args }: NonNullable<Part["functionCall"]>, signature: string | undefined): void {
    requireFewCalls(calls.length + 1);
    calls.push({ id: id ?? "", name, arguments: JSON.stringify(args) });
    state.push({ call: calls.length - 1, ...(id != null && { id }), ...signed(signature) });
  }

  return {
    output,
    *add(part: Part): Generator<OutputPiece> {
      const { thought, functionCall, toolCall, toolResponse } = part;
      const text = part.text ?? "";
      const signature = part.thoughtSignature ?? undefined;
      if (thought) {
        yield* append("reasoning", text);
        if (signature !== undefined) state.push({ thought: text, signature });
      } else if (functionCall) {
        addCall(functionCall, signature);
        lastType = "other";
      } else if (toolCall || toolResponse) {
        state.push(ownToolPart(part));
        lastType = "other";
      } else if (text !== "" || signature !== undefined) yield* addText(text, signature);
    },
    /** The calls, and the state to send back with their results; undefined without calls. */
    batch: (): CallBatch | undefined =>
      calls.length === 0 ? undefined : { calls, ...(!isPlain(state) && { opaque: state }) },
  };
}
