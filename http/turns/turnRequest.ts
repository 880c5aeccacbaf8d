import type { Route } from "#events/route.ts";
import type { Message, Prompt, ToolCall, TurnAgent } from "#events/thread.ts";
import type { AttachmentSource } from "./attachment.ts";

/** A message of a request. Its attachments are not copied into the turn yet. */
export interface InputMessage {
  role: Message["role"];
  text: string;
  files: AttachmentSource[];
  /** Of an assistant message: its calls of the caller's own tools. */
  calls?: ToolCall[];
  /** Of a tool result: the id of its call, and the request field with that id. */
  call_id?: string;
  param?: string;
}

/** The recorded form of the message, without attachments. */
export const textMessage = ({ role, text, calls, call_id }: Omit<InputMessage, "files">): Message => ({
  role,
  text,
  attachments: [],
  ...(calls && { calls }),
  ...(call_id !== undefined && { call_id }),
});

/** A request for a turn. Everything that needs no look-up is checked. */
export interface TurnRequest {
  /** `provider/model`, or the name of an alias. */
  model: string;
  /** The targets of the alias. */
  route?: Route | undefined;
  streamed: boolean;
  include_usage: boolean;
  user: string | undefined;
  messages: InputMessage[];
  /** Slugs or display names of the collections that the turn's tools may search; null: all. */
  collections: string[] | null;
  /** Ids of the thread's open calls that this request answers. */
  answers?: string[];
  /** The thread's newest turn, whose vars are in `settings`; null if there is none. Absent in chat completions. */
  follows?: string | null;
  /** Absent in chat completions. */
  agent?: TurnAgent;
  /** The agent's project. */
  project_id?: string | null;
  /** Time limit of the turn. The default depends on `streamed`. */
  limit_ms?: number;
  /** The prompt without its messages. Collections are not resolved yet. */
  settings: Omit<Prompt, "messages">;
}

export const promptFrom = ({ settings }: TurnRequest, messages: Message[]): Prompt => ({ ...settings, messages });
