import { randomUUID } from "node:crypto";
import type { ToolCall } from "#events/thread.ts";
import type { Part } from "./answer.ts";
import { seam } from "../wire/said.ts";
import type { State } from "./state.ts";

/** Something that readers hear. */
type Words = { type: "text" | "reasoning"; text: string };

/** At most some words and then calls: that needs no state to be told again. */
const isPlain = (state: State): boolean =>
  state.every(
    (part, n) => ("call" in part ? part.id === undefined : "text" in part && n === 0) && !("signature" in part),
  );

/** Puts the parts of a streamed answer together, and tells their words as they come. */
export function createParts() {
  const said = { text: "", reasoning: "" };
  const calls: ToolCall[] = [];
  const state: State = [];
  let last: Words["type"] | "other" | undefined;

  /** Words that others stand between would run into each other. Returns how long what was put between is. */
  function* say(type: Words["type"], text: string): Generator<Words, number> {
    const between = last === type ? "" : seam(said[type], text);
    said[type] += between + text;
    last = type;
    if (text !== "") yield { type, text: between + text };
    return between.length;
  }

  function* addText(text: string, signature: string | undefined): Generator<Words> {
    const goesOn = last === "text";
    const start = said.text.length;
    const from = start + (yield* say("text", text));
    const before = state.at(-1);
    if (goesOn && signature === undefined && before && "text" in before && before.signature === undefined)
      before.text[1] = said.text.length;
    else state.push({ text: [from, said.text.length], ...(signature !== undefined && { signature }) });
  }

  function addCall({ id, name, args }: NonNullable<Part["functionCall"]>, signature: string | undefined): void {
    const known = id != null && !calls.some((call) => call.id === id);
    calls.push({ id: known ? id : `call_${randomUUID()}`, name, arguments: JSON.stringify(args) });
    state.push({
      call: calls.length - 1,
      ...(id != null && { id }),
      ...(signature !== undefined && { signature }),
    });
  }

  function* add({ text, thought, thoughtSignature, functionCall, toolCall, toolResponse }: Part): Generator<Words> {
    const signature = thoughtSignature ?? undefined;
    if (thought) {
      yield* say("reasoning", text ?? "");
      if (signature !== undefined) state.push({ thought: text ?? "", signature });
    } else if (functionCall) {
      addCall(functionCall, signature);
      last = "other";
    } else if (toolCall || toolResponse) {
      state.push({
        own: {
          ...(toolCall && { toolCall }),
          ...(toolResponse && { toolResponse }),
          ...(signature !== undefined && { thoughtSignature: signature }),
        },
      });
      last = "other";
    } else if (text || signature !== undefined) yield* addText(text ?? "", signature);
  }

  return {
    said,
    add,
    /** The calls and what has to be shown again with their results; undefined where nothing was called. */
    asked(): { calls: ToolCall[]; opaque?: State } | undefined {
      if (calls.length === 0) return undefined;
      return { calls, ...(!isPlain(state) && { opaque: state }) };
    },
  };
}
