import type { Citation, ToolCall } from "#events/thread.ts";
import { placeOf, type PlaceInDocument } from "#events/turnOutput.ts";

/* Output items of a response, open and complete (spec: Agent response object). */

export interface Annotation extends PlaceInDocument {
  type: "url_citation";
  url: string;
  title: string;
  start_index: number;
  end_index: number;
}

export interface TextPart {
  type: "output_text";
  text: string;
  annotations: Annotation[];
  logprobs: [];
}

interface RefusalPart {
  type: "refusal";
  refusal: string;
}

export interface ReasoningItem {
  type: "reasoning";
  id: string;
  status: "in_progress" | "completed";
  summary: { type: "summary_text"; text: string }[];
}
export interface CallItem {
  type: "function_call";
  id: string;
  call_id: string;
  name: string;
  arguments: string;
  /** `incomplete`: the tool returned an error. */
  status: "in_progress" | "completed" | "incomplete";
}
export interface MessageItem {
  type: "message";
  id: string;
  role: "assistant";
  status: "in_progress" | "completed" | "incomplete";
  content: (TextPart | RefusalPart)[];
}
export type Item = ReasoningItem | CallItem | MessageItem;

export const textPart = (text: string, annotations: Annotation[]): TextPart => ({
  type: "output_text",
  text,
  annotations,
  logprobs: [],
});

export const refusalPart = (refusal: string): RefusalPart => ({ type: "refusal", refusal });

/** A consulted source. Its span is the whole message (spec: Agent response object). */
export const presentAnnotation = ({ url, title, ...cited }: Citation, text: string): Annotation => ({
  type: "url_citation",
  url,
  title,
  start_index: 0,
  end_index: text.length,
  ...placeOf(cited),
});

export const reasoningItem = (id: string, text: string, status: ReasoningItem["status"]): ReasoningItem => ({
  type: "reasoning",
  id,
  status,
  summary: [{ type: "summary_text", text }],
});

export const messageItem = (
  id: string,
  content: MessageItem["content"],
  status: MessageItem["status"],
): MessageItem => ({
  type: "message",
  id,
  role: "assistant",
  status,
  content,
});

/** `args`: the JSON received so far, which is empty while the item opens. */
export const functionCallItem = (id: string, call: ToolCall, args: string, status: CallItem["status"]): CallItem => ({
  type: "function_call",
  id,
  call_id: call.id,
  name: call.name,
  arguments: args,
  status,
});
