import {
  addItem,
  completeItem,
  assignItemId,
  itemPosition,
  type OpenText,
  type FoldState,
  type StreamEvent,
} from "./foldState.ts";
import {
  messageItem,
  presentAnnotation,
  reasoningItem,
  refusalPart,
  textPart,
  type Annotation,
  type MessageItem,
  type TextPart,
} from "./items.ts";

/* The texts of a response: its reasoning and its messages. */

function openText(state: FoldState, type: OpenText["type"]): StreamEvent[] {
  const index = state.output.length;
  const id = assignItemId(state, type, index);
  state.open = { type, index, id, text: "" };
  if (type === "reasoning") return [addItem(state, reasoningItem(id, "", "in_progress"))];
  state.hasMessage = true;
  return [addItem(state, messageItem(id, [], "in_progress"))];
}

/** Opens a message with its text. */
export function openMessage(state: FoldState): StreamEvent[] {
  const events = openText(state, "message");
  const at = itemPosition(state, state.open!.index);
  return [...events, { type: "response.content_part.added", ...at, content_index: 0, part: textPart("", []) }];
}

/** Adds a refusal. It is sent with the complete message, because the spec has no event for a piece of one. */
export function addRefusal(state: FoldState, refusal: string): StreamEvent[] {
  const events = state.open?.type === "message" ? [] : [...closeText(state), ...openText(state, "message")];
  state.open!.refusal = refusal;
  return events;
}

/** Removes the blank lines before a new item. The first line keeps its indentation. */
function beginningOf(state: FoldState, type: OpenText["type"], sent: string): string {
  if (state.firstItem + state.output.length === 0) return sent;
  const text = state.blank?.type === type ? state.blank.text + sent : sent;
  // more blank lines may follow, however the text is cut into frames
  const isBlank = sent.trim() === "";
  state.blank = isBlank ? { type, text } : undefined;
  return isBlank ? "" : text.replace(/^\s*\n/, "");
}

/** Adds to the open item of this type, or opens one. */
export function addText(state: FoldState, type: OpenText["type"], sent: string): StreamEvent[] {
  const isNew = state.open?.type !== type;
  const text = isNew ? beginningOf(state, type, sent) : sent;
  if (text === "") return [];
  const opened = () => (type === "message" ? openMessage(state) : openText(state, type));
  const events = isNew ? [...closeText(state), ...opened()] : [];
  const open = state.open!;
  open.text += text;
  const at = itemPosition(state, open.index);
  return type === "reasoning"
    ? [...events, { type: "response.reasoning_summary_text.delta", ...at, summary_index: 0, delta: text }]
    : [...events, { type: "response.output_text.delta", ...at, content_index: 0, delta: text, logprobs: [] }];
}

export function closeText(state: FoldState, status: "completed" | "incomplete" = "completed"): StreamEvent[] {
  const closing = state.open;
  state.open = undefined;
  state.blank = undefined;
  if (!closing) return [];
  return closing.type === "reasoning" ? closeReasoning(state, closing) : closeMessage(state, closing, status);
}

const closeReasoning = (state: FoldState, { index, id, text }: OpenText): StreamEvent[] => [
  { type: "response.reasoning_summary_text.done", ...itemPosition(state, index), summary_index: 0, text },
  completeItem(state, index, reasoningItem(id, text, "completed")),
];

function closeMessage(state: FoldState, open: OpenText, status: "completed" | "incomplete"): StreamEvent[] {
  const { index, id, text, refusal } = open;
  const at = itemPosition(state, index);
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

function takeAnnotations(state: FoldState, text: string): Annotation[] {
  const annotations = state.citations.map((citation) => presentAnnotation(citation, text));
  state.citations = [];
  return annotations;
}

const annotationEvents = (annotations: Annotation[], at: object, first = 0): StreamEvent[] =>
  annotations.map((annotation, n) => ({
    type: "response.output_text.annotation.added",
    ...at,
    annotation_index: first + n,
    annotation,
  }));

/** Closes a text. Citations are sent with it, because each one spans the whole text. */
function closeTextPart(state: FoldState, { index, text }: OpenText) {
  const annotations = takeAnnotations(state, text);
  const part = textPart(text, annotations);
  const at = { ...itemPosition(state, index), content_index: 0 };
  const events: StreamEvent[] = [
    ...annotationEvents(annotations, at),
    { type: "response.output_text.done", ...at, text, logprobs: [] },
    { type: "response.content_part.done", ...at, part },
  ];
  return { part, events };
}

/** Adds sources that became known after the last message was complete to that message. */
export function citeLastMessage(state: FoldState): StreamEvent[] {
  const index = state.output.findLastIndex(
    (item) => item.type === "message" && item.content[0]?.type === "output_text",
  );
  if (index === -1 || state.citations.length === 0) return [];
  const { id, content, status } = state.output[index] as MessageItem;
  const [{ text, annotations: cited }, ...others] = content as [TextPart, ...MessageItem["content"]];
  const annotations = takeAnnotations(state, text);
  state.output[index] = messageItem(id, [textPart(text, [...cited, ...annotations]), ...others], status);
  return annotationEvents(annotations, { ...itemPosition(state, index), content_index: 0 }, cited.length);
}
