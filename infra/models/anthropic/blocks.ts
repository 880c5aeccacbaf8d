import type { ToolCall } from "#events/thread.ts";
import type { Block, Delta } from "./answer.ts";
import { seam } from "../wire/said.ts";
import type { State } from "./state.ts";

/** A block as far as it has come; `from` and `to` say where the words of one stand in the answer's text. */
type Open =
  | { type: "text"; from: number; to: number; goesOn: boolean }
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "redacted_thinking"; data: string }
  | { type: "tool_use"; id: string; name: string; input: unknown; json: string };

/** Something that readers hear. */
type Words = { type: "text" | "reasoning"; text: string };

/** At most some words and then calls: that needs no state to be told again. */
const isPlain = (state: State): boolean => state.every((block, n) => "call" in block || ("text" in block && n === 0));

/** Puts the blocks of a streamed answer together, and tells their words as they come. */
export function createBlocks() {
  const blocks = new Map<number, Open>();
  const said = { text: "", reasoning: "" };
  let last: Block["type"] | undefined;

  function* say(type: Words["type"], text: string): Generator<Words> {
    said[type] += text;
    if (text !== "") yield { type, text };
  }

  function* addText(block: Extract<Open, { type: "text" }>, text: string): Generator<Words> {
    const first = block.from === block.to;
    const between = first && !block.goesOn ? seam(said.text, text) : "";
    if (first) block.from = said.text.length + between.length;
    yield* say("text", between + text);
    block.to = said.text.length;
  }

  function* addThinking(block: Extract<Open, { type: "thinking" }>, thinking: string): Generator<Words> {
    const between = block.thinking === "" ? seam(said.reasoning, thinking) : "";
    block.thinking += thinking;
    yield* say("reasoning", between + thinking);
  }

  function* begin(index: number, block: Block): Generator<Words> {
    const goesOn = last === block.type;
    last = block.type;
    if (block.type === "text") {
      const open: Open = { type: "text", from: 0, to: 0, goesOn };
      blocks.set(index, open);
      yield* addText(open, block.text);
    } else if (block.type === "thinking") {
      const open: Open = { type: "thinking", thinking: "", signature: block.signature };
      blocks.set(index, open);
      yield* addThinking(open, block.thinking);
    } else blocks.set(index, block.type === "tool_use" ? { ...block, json: "" } : block);
  }

  function* add(index: number, delta: Delta): Generator<Words> {
    const block = blocks.get(index);
    if (delta.type === "text_delta" && block?.type === "text") yield* addText(block, delta.text);
    else if (delta.type === "thinking_delta" && block?.type === "thinking") yield* addThinking(block, delta.thinking);
    else if (delta.type === "signature_delta" && block?.type === "thinking") block.signature += delta.signature;
    else if (delta.type === "input_json_delta" && block?.type === "tool_use") block.json += delta.partial_json;
  }

  const ordered = (): Open[] => [...blocks].toSorted(([a], [b]) => a - b).map(([, block]) => block);

  return {
    said,
    begin,
    add,
    /** The calls and what has to be shown again with their results; undefined where nothing was called. */
    asked(): { calls: ToolCall[]; opaque?: State } | undefined {
      const calls: ToolCall[] = [];
      const state = ordered().map((block): State[number] => {
        if (block.type === "thinking") return { thinking: block.thinking, signature: block.signature };
        if (block.type === "redacted_thinking") return { redacted: block.data };
        if (block.type === "text") return { text: [block.from, block.to] };
        calls.push({ id: block.id, name: block.name, arguments: block.json || JSON.stringify(block.input ?? {}) });
        return { call: calls.length - 1 };
      });
      if (calls.length === 0) return undefined;
      return { calls, ...(!isPlain(state) && { opaque: state }) };
    },
  };
}
