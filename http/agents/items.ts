import { idFrom } from "#events/ids.ts";
import type { Citation, ToolCall } from "#events/thread.ts";

/* Output items of a response (spec: Agent response object), as they are when they open and when they close. */

export interface Annotation {
  type: "url_citation";
  url: string;
  title: string;
  start_index: number;
  end_index: number;
}

interface TextPart {
  type: "output_text";
  text: string;
  annotations: Annotation[];
  logprobs: [];
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
  content: TextPart[];
}
export type Item = ReasoningItem | CallItem | MessageItem;

const PREFIX = { reasoning: "rs", function_call: "fc", message: "msg" };

/** The same item of the same turn has the same id, whoever presents it. */
export const itemId = (type: Item["type"], turn_id: string, output_index: number): string =>
  `${PREFIX[type]}_${idFrom("item", turn_id, String(output_index))}`;

export const textPart = (text: string, annotations: Annotation[]): TextPart => ({
  type: "output_text",
  text,
  annotations,
  logprobs: [],
});

/** A consulted source; its span covers the whole message (spec: Agent response object). */
export const annotationOf = ({ url, title }: Pick<Citation, "url" | "title">, text: string): Annotation => ({
  type: "url_citation",
  url,
  title,
  start_index: 0,
  end_index: text.length,
});

export const reasoningItem = (id: string, text: string, status: ReasoningItem["status"]): ReasoningItem => ({
  type: "reasoning",
  id,
  status,
  summary: [{ type: "summary_text", text }],
});

export const messageItem = (id: string, content: TextPart[], status: MessageItem["status"]): MessageItem => ({
  type: "message",
  id,
  role: "assistant",
  status,
  content,
});

export const callItem = (id: string, call: ToolCall, args: string, status: CallItem["status"]): CallItem => ({
  type: "function_call",
  id,
  call_id: call.id,
  name: call.name,
  arguments: args,
  status,
});
