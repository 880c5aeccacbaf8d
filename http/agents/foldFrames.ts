import type { FramePayload, TurnEnd } from "#events/ports.ts";
import type { Citation, ToolCall } from "#events/thread.ts";
import { itemId, messageId } from "./itemIds.ts";
import {
  functionCallItem,
  messageItem,
  presentAnnotation,
  reasoningItem,
  refusalPart,
  textPart,
  type Item,
  type MessageItem,
} from "./items.ts";
import type { ResponseHead } from "./present.ts";

/** An event of a response's stream, without its sequence number. */
export type StreamEvent = { type: string } & Record<string, unknown>;

interface OpenText {
  type: "reasoning" | "message";
  index: number;
  id: string;
  text: string;
  /** Of a message; it is the last part. */
  refusal?: string;
}

interface State {
  turn_id: string;
  showsTools: boolean;
  /** Number of the first item in the stored response: a resent answer leaves earlier items out. */
  firstItem: number;
  output: Item[];
  /** Calls of the newest round, by their number in it; undefined for those that are hidden. */
  calls: ({ call: ToolCall; index: number } | undefined)[];
  open: OpenText | undefined;
  /** Citations of the open message. */
  citations: Citation[];
  hasMessage: boolean;
  /** A message has the response's own UUID. */
  isNamed: boolean;
  /** The model cited sources itself, next to the message they belong to. */
  hasCited: boolean;
}

type FoldOptions = Pick<ResponseHead, "turn_id" | "expose_tool_items" | "first_item" | "follows_message">;

/**
 * Turns the frames of a turn into the items of its response and the events of its stream. Deterministic, so that every
 * process numbers the events alike. Reasoning and messages open one at a time, the calls of a round together.
 */
export function createFold({ turn_id, expose_tool_items, first_item = 0, follows_message = false }: FoldOptions) {
  const state: State = {
    turn_id,
    showsTools: expose_tool_items,
    firstItem: first_item,
    output: [],
    calls: [],
    open: undefined,
    citations: [],
    hasMessage: false,
    isNamed: follows_message,
    hasCited: false,
  };
  return {
    output: (): Item[] => state.output,
    /** Applies the next frame of a running turn. */
    next: (frame: FramePayload): StreamEvent[] => applyFrame(state, frame),
    /** Closes the open items. A completed response has a message, even an empty one, or calls of the caller's own tools. */
    end: (end: TurnEnd): StreamEvent[] => applyEnd(state, end),
  };
}

function applyFrame(state: State, frame: FramePayload): StreamEvent[] {
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

function applyEnd(state: State, end: TurnEnd): StreamEvent[] {
  const isComplete = end.status === "completed";
  if (end.status !== "refused" && !state.hasCited) state.citations = end.said.citations;
  const isOwn = (n: number) => isComplete && state.calls[n]?.call.client === true;
  const calls = state.calls.flatMap((_, n) => closeCall(state, n, isOwn(n) ? "completed" : "incomplete"));
  const hasOwnCalls = state.calls.some((_, n) => isOwn(n));
  const needsMessage = isComplete && !state.hasMessage && !hasOwnCalls && state.open?.type !== "message";
  const emptyMessage = needsMessage ? [...closeText(state), ...openMessage(state)] : [];
  return [...calls, ...emptyMessage, ...closeText(state, isComplete ? "completed" : "incomplete")];
}

function idAt(state: State, type: Item["type"], index: number): string {
  const { turn_id, firstItem, isNamed } = state;
  if (type !== "message" || isNamed) return itemId(type, turn_id, firstItem + index);
  state.isNamed = true;
  return messageId(turn_id);
}
const place = ({ output }: State, index: number) => ({ output_index: index, item_id: output[index]!.id });

function addItem({ output }: State, item: Item): StreamEvent {
  output.push(item);
  return { type: "response.output_item.added", output_index: output.length - 1, item };
}
function completeItem({ output }: State, index: number, item: Item): StreamEvent {
  output[index] = item;
  return { type: "response.output_item.done", output_index: index, item };
}

function openText(state: State, type: OpenText["type"]): StreamEvent[] {
  const index = state.output.length;
  const id = idAt(state, type, index);
  state.open = { type, index, id, text: "" };
  if (type === "reasoning") return [addItem(state, reasoningItem(id, "", "in_progress"))];
  state.hasMessage = true;
  return [addItem(state, messageItem(id, [], "in_progress"))];
}

/** Opens a message with its text. */
function openMessage(state: State): StreamEvent[] {
  const events = openText(state, "message");
  const at = place(state, state.open!.index);
  return [...events, { type: "response.content_part.added", ...at, content_index: 0, part: textPart("", []) }];
}

/** The refusal is sent with the complete message: no event of the spec carries a piece of one. */
function addRefusal(state: State, refusal: string): StreamEvent[] {
  const events = state.open?.type === "message" ? [] : [...closeText(state), ...openText(state, "message")];
  state.open!.refusal = refusal;
  return events;
}

/** Adds to the open item of this type, or opens one. The blank line between two messages belongs to neither. */
function addText(state: State, type: OpenText["type"], sent: string): StreamEvent[] {
  const isNew = state.open?.type !== type;
  const text = isNew && state.output.length > 0 ? sent.trimStart() : sent;
  if (text === "") return [];
  const opened = () => (type === "message" ? openMessage(state) : openText(state, type));
  const events = isNew ? [...closeText(state), ...opened()] : [];
  const open = state.open!;
  open.text += text;
  const at = place(state, open.index);
  return type === "reasoning"
    ? [...events, { type: "response.reasoning_summary_text.delta", ...at, summary_index: 0, delta: text }]
    : [...events, { type: "response.output_text.delta", ...at, content_index: 0, delta: text, logprobs: [] }];
}

function closeText(state: State, status: "completed" | "incomplete" = "completed"): StreamEvent[] {
  const closing = state.open;
  state.open = undefined;
  if (!closing) return [];
  return closing.type === "reasoning" ? closeReasoning(state, closing) : closeMessage(state, closing, status);
}

const closeReasoning = (state: State, { index, id, text }: OpenText): StreamEvent[] => [
  { type: "response.reasoning_summary_text.done", ...place(state, index), summary_index: 0, text },
  completeItem(state, index, reasoningItem(id, text, "completed")),
];

function closeMessage(state: State, open: OpenText, status: "completed" | "incomplete"): StreamEvent[] {
  const { index, id, text, refusal } = open;
  const at = place(state, index);
  const texts = text === "" && refusal !== undefined ? undefined : closeTextPart(state, open);
  const parts: MessageItem["content"] = texts ? [texts.part] : [];
  const events = texts?.events ?? [];
  if (refusal !== undefined) {
    const content_index = parts.length;
    const part = (words: string) => ({ ...at, content_index, part: refusalPart(words) });
    events.push({ type: "response.content_part.added", ...part("") });
    events.push({ type: "response.content_part.done", ...part(refusal) });
    parts.push(refusalPart(refusal));
  }
  return [...events, completeItem(state, index, messageItem(id, parts, status))];
}

/** Citations are sent with the complete text, because each one spans all of it. */
function closeTextPart(state: State, { index, text }: OpenText) {
  const annotations = state.citations.map((citation) => presentAnnotation(citation, text));
  state.citations = [];
  const part = textPart(text, annotations);
  const at = { ...place(state, index), content_index: 0 };
  const events: StreamEvent[] = [
    ...annotations.map((annotation, annotation_index) => ({
      type: "response.output_text.annotation.added",
      ...at,
      annotation_index,
      annotation,
    })),
    { type: "response.output_text.done", ...at, text, logprobs: [] },
    { type: "response.content_part.done", ...at, part },
  ];
  return { part, events };
}

function openCalls(state: State, calls: ToolCall[]): StreamEvent[] {
  const events = closeText(state);
  let next = state.output.length;
  state.calls = calls.map((call) => (state.showsTools || call.client ? { call, index: next++ } : undefined));
  const opened = state.calls.flatMap((shown): StreamEvent[] => {
    if (!shown) return [];
    const { call, index } = shown;
    const { name, arguments: args } = call;
    const id = idAt(state, "function_call", index);
    return [
      addItem(state, functionCallItem(id, call, "", "in_progress")),
      { type: "response.function_call_arguments.delta", ...place(state, index), delta: args },
      { type: "response.function_call_arguments.done", ...place(state, index), name, arguments: args },
    ];
  });
  return [...events, ...opened];
}

function closeCall(state: State, n: number, status: "completed" | "incomplete"): StreamEvent[] {
  const found = state.calls[n];
  if (!found || (state.output[found.index] as { status: string }).status !== "in_progress") return [];
  const { call, index } = found;
  const id = idAt(state, "function_call", index);
  return [completeItem(state, index, functionCallItem(id, call, call.arguments, status))];
}
