import type { FramePayload, TurnEnd } from "#events/ports.ts";
import type { ToolCall } from "#events/thread.ts";
import { addItem, completeItem, assignItemId, itemPosition, type FoldState, type StreamEvent } from "./foldState.ts";
import { addRefusal, addText, citeLastMessage, closeText, openMessage } from "./foldTexts.ts";
import { functionCallItem, type Item } from "./items.ts";
import type { ResponseHead } from "./present.ts";

type FoldOptions = Pick<ResponseHead, "turn_id" | "expose_tool_items" | "first_item" | "follows_message">;

/**
 * Folds a turn's frames into the response's items and stream events. Deterministic, so that every process numbers the events
 * alike. One message or reasoning item is open at a time; the calls of a round are open together.
 */
export function createFold({ turn_id, expose_tool_items, first_item = 0, follows_message = false }: FoldOptions) {
  const state: FoldState = {
    turn_id,
    showsTools: expose_tool_items,
    firstItem: first_item,
    output: [],
    calls: [],
    open: undefined,
    citations: [],
    blank: undefined,
    hasMessage: false,
    isNamed: follows_message,
    hasCited: false,
  };
  return {
    output: (): Item[] => state.output,
    /** Applies a frame of a running turn. */
    next: (frame: FramePayload): StreamEvent[] => applyFrame(state, frame),
    /** Closes the open items. A completed response always has a message, which may be empty, or calls of the caller's own tools. */
    end: (end: TurnEnd): StreamEvent[] => applyEnd(state, end),
  };
}

function applyFrame(state: FoldState, frame: FramePayload): StreamEvent[] {
  switch (frame.type) {
    case "reasoning":
    case "text":
      return addText(state, frame.type === "text" ? "message" : "reasoning", frame.text);
    case "refusal":
      return addRefusal(state, frame.text);
    case "citations":
      state.citations.push(...frame.citations);
      state.hasCited = true;
      return [];
    case "calls":
      return openCalls(state, frame.calls);
    case "target":
      return [];
    case "called":
      return closeCall(state, frame.call, frame.status === "completed" ? "completed" : "incomplete");
  }
}

function applyEnd(state: FoldState, end: TurnEnd): StreamEvent[] {
  const isComplete = end.status === "completed";
  if (end.status !== "refused" && !state.hasCited) state.citations = end.said.citations;
  const isOwn = (n: number) => isComplete && state.calls[n]?.call.client === true;
  const calls = state.calls.flatMap((_, n) => closeCall(state, n, isOwn(n) ? "completed" : "incomplete"));
  const hasOwnCalls = state.calls.some((_, n) => isOwn(n));
  const needsMessage = isComplete && !state.hasMessage && !hasOwnCalls && state.open?.type !== "message";
  const emptyMessage = needsMessage ? [...closeText(state), ...openMessage(state)] : [];
  const closed = closeText(state, isComplete ? "completed" : "incomplete");
  return [...calls, ...emptyMessage, ...closed, ...citeLastMessage(state)];
}

function openCalls(state: FoldState, calls: ToolCall[]): StreamEvent[] {
  const events = closeText(state);
  let next = state.output.length;
  state.calls = calls.map((call) => (state.showsTools || call.client ? { call, index: next++ } : undefined));
  const opened = state.calls.flatMap((shown): StreamEvent[] => {
    if (!shown) return [];
    const { call, index } = shown;
    const { name, arguments: args } = call;
    const id = assignItemId(state, "function_call", index);
    return [
      addItem(state, functionCallItem(id, call, "", "in_progress")),
      { type: "response.function_call_arguments.delta", ...itemPosition(state, index), delta: args },
      { type: "response.function_call_arguments.done", ...itemPosition(state, index), name, arguments: args },
    ];
  });
  return [...events, ...opened];
}

function closeCall(state: FoldState, n: number, status: "completed" | "incomplete"): StreamEvent[] {
  const found = state.calls[n];
  if (!found || (state.output[found.index] as { status: string }).status !== "in_progress") return [];
  const { call, index } = found;
  const id = assignItemId(state, "function_call", index);
  return [completeItem(state, index, functionCallItem(id, call, call.arguments, status))];
}
