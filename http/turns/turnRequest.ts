import type { Route } from "#events/route.ts";
import type { Message, Prompt, ToolCall, TurnAgent } from "#events/thread.ts";
import type { AttachmentSource } from "./attachment.ts";

/** A message of a request, before its attachments are copied into the turn. */
export interface InputMessage {
  role: Message["role"];
  text: string;
  files: AttachmentSource[];
  /** Of an assistant's message: calls of the caller's own tools. */
  calls?: ToolCall[];
  /** Of a result: its call, and the field that holds its id. */
  call_id?: string;
  param?: string;
}

/** The message as it is recorded, without its attachments. */
export const textMessage = ({ role, text, calls, call_id }: Omit<InputMessage, "files">): Message => ({
  role,
  text,
  attachments: [],
  ...(calls && { calls }),
  ...(call_id !== undefined && { call_id }),
});

/** A request for a turn, checked as far as that needs no look-up. */
export interface TurnRequest {
  /** `provider/model`, or an alias. */
  model: string;
  /** What the alias stands for. */
  route?: Route | undefined;
  streamed: boolean;
  include_usage: boolean;
  user: string | undefined;
  messages: InputMessage[];
  /** Slugs or display names of the collections that its tools may search; null: all. */
  collections: string[] | null;
  /** Open calls of the thread whose results are among the messages. */
  answers?: string[];
  /** The newest turn of the thread, whose vars `settings` has; null: there is none. Absent in a chat. */
  follows?: string | null;
  /** Absent in a chat. */
  agent?: TurnAgent;
  /** That of the agent. */
  project_id?: string | null;
  /** Time limit of the turn; by default it follows from `streamed`. */
  limit_ms?: number;
  /** The prompt without its messages. Collections are not looked up yet. */
  settings: Omit<Prompt, "messages">;
}

export const promptFrom = ({ settings }: TurnRequest, messages: Message[]): Prompt => ({ ...settings, messages });
