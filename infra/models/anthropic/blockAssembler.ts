import type { ToolCall } from "#events/thread.ts";
import { blockSeparator } from "#events/turnOutput.ts";
import type { Block, Delta } from "./answer.ts";
import { requireFewCalls, type CallBatch, type Output, type OutputPiece } from "../wire/output.ts";
import type { State } from "./state.ts";

/** A block as far as it has arrived. `from` and `to`: the range of its text in the answer's text, in UTF-16 units. */
type PartialBlock =
  | { type: "text"; from: number; to: number; continues: boolean }
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "redacted_thinking"; data: string }
  | { type: "tool_use"; id: string; name: string; input: unknown; json: string };
type TextBlock = Extract<PartialBlock, { type: "text" }>;
type ThinkingBlock = Extract<PartialBlock, { type: "thinking" }>;

/** Whether the answer is at most one text followed by calls, which can be rebuilt without state. */
const isPlain = (state: State): boolean => state.every((block, n) => "call" in block || ("text" in block && n === 0));

/** The calls of a complete answer, and the state to send back with their results; undefined without calls. */
function toBatch(blocks: PartialBlock[]): CallBatch | undefined {
  const calls: ToolCall[] = [];
  const state = blocks.map((block): State[number] => {
    if (block.type === "thinking") return { thinking: block.thinking, signature: block.signature };
    if (block.type === "redacted_thinking") return { redacted: block.data };
    if (block.type === "text") return { text: [block.from, block.to] };
    calls.push({ id: block.id, name: block.name, arguments: block.json || JSON.stringify(block.input ?? {}) });
    return { call: calls.length - 1 };
  });
  return calls.length === 0 ? undefined : { calls, ...(!isPlain(state) && { opaque: state }) };
}

/** Assembles the blocks of a streamed answer. Yields their text and thinking as they arrive. */
export function createBlockAssembler() {
  const blocks = new Map<number, PartialBlock>();
  const output: Output = { text: "", reasoning: "" };
  let lastType: Block["type"] | undefined;
  let callCount = 0;

  function* append(type: OutputPiece["type"], text: string): Generator<OutputPiece> {
    output[type] += text;
    if (text !== "") yield { type, text };
  }

  function* addText(block: TextBlock, text: string): Generator<OutputPiece> {
    const isFirst = block.from === block.to;
    const separator = isFirst && !block.continues ? blockSeparator(output.text, text) : "";
    if (isFirst) block.from = output.text.length + separator.length;
    yield* append("text", separator + text);
    block.to = output.text.length;
  }

  function* addThinking(block: ThinkingBlock, thinking: string): Generator<OutputPiece> {
    const separator = block.thinking === "" ? blockSeparator(output.reasoning, thinking) : "";
    block.thinking += thinking;
    yield* append("reasoning", separator + thinking);
  }

  return {
    output,
    *startBlock(index: number, block: Block): Generator<OutputPiece> {
      const continues = lastType === block.type;
      lastType = block.type;
      if (block.type === "text") {
        const open: TextBlock = { type: "text", from: 0, to: 0, continues };
        blocks.set(index, open);
        yield* addText(open, block.text);
      } else if (block.type === "thinking") {
        const open: ThinkingBlock = { type: "thinking", thinking: "", signature: block.signature };
        blocks.set(index, open);
        yield* addThinking(open, block.thinking);
      } else if (block.type === "tool_use") {
        requireFewCalls((callCount += 1));
        blocks.set(index, { ...block, json: "" });
      } else blocks.set(index, block);
    },
    *addDelta(index: number, delta: Delta): Generator<OutputPiece> {
      const block = blocks.get(index);
      if (delta.type === "text_delta" && block?.type === "text") yield* addText(block, delta.text);
      else if (delta.type === "thinking_delta" && block?.type === "thinking") yield* addThinking(block, delta.thinking);
      else if (delta.type === "signature_delta" && block?.type === "thinking") block.signature += delta.signature;
      else if (delta.type === "input_json_delta" && block?.type === "tool_use") block.json += delta.partial_json;
    },
    batch: () => toBatch([...blocks].toSorted(([a], [b]) => a - b).map(([, block]) => block)),
  };
}
