import { ApiError } from "../base/errors.ts";
import {
  MAX_ATTACHMENTS,
  readFileAttachment,
  readImageAttachment,
  type AttachmentSource,
} from "../turns/attachment.ts";
import type { InputMessage } from "../turns/turnRequest.ts";
import type { CompletionRequest, Part } from "./schema.ts";
import { readCalls, readResult } from "./toolMessages.ts";

type Message = CompletionRequest["messages"][number];

function readText(content: Message["content"], at: string): string {
  if (typeof content === "string") return content;
  const texts: string[] = [];
  for (const [n, part] of (content ?? []).entries()) {
    if (part.type !== "text") continue;
    if (part.text === undefined)
      throw new ApiError(null, `${at}[${n}].text must be a string.`, { param: `${at}[${n}].text` });
    texts.push(part.text);
  }
  return texts.join("\n");
}

const fields = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};

/** Undefined for parts that are no attachments. Throws the spec's attachment codes. */
function readAttachment(part: Part, at: string): AttachmentSource | undefined {
  if (part.type === "image_url") return readImageAttachment(fields(part.image_url)["url"], `${at}.image_url.url`);
  if (part.type === "file") return readFileAttachment(fields(part.file), `${at}.file`);
  return undefined;
}

function readFiles(content: Message["content"], at: string): AttachmentSource[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((part, n) => readAttachment(part, `${at}[${n}]`) ?? []);
}

function countFiles(request: CompletionRequest): number {
  const inParts = request.messages
    .filter(({ role }) => role === "user")
    .flatMap(({ content }) => (Array.isArray(content) ? content : []))
    .filter(({ type }) => type === "image_url" || type === "file").length;
  return inParts + (request.attachments?.length ?? 0);
}

/** A message of the conversation; undefined for instructions and for messages that are ignored. */
function readMessage(message: Message, n: number, hasOwnTools: boolean): InputMessage | undefined {
  const { role, content } = message;
  const at = `messages[${n}].content`;
  const isEmpty = content === null || content === undefined;
  switch (role) {
    case "assistant": {
      const calls = hasOwnTools ? readCalls(message, `messages[${n}]`) : undefined;
      if (isEmpty && !calls) return undefined;
      return { role, text: readText(content, at), files: [], ...(calls && { calls }) };
    }
    case "user":
      if (isEmpty) throw new ApiError(null, `${at} must be a string or an array of parts.`, { param: at });
      return { role, text: readText(content, at), files: readFiles(content, at) };
    case "system":
    case "developer":
      return undefined;
    case "tool":
      return hasOwnTools ? readResult(message, readText(content, at), `messages[${n}]`) : undefined;
    default:
      throw new ApiError(
        "invalid_role",
        `messages[${n}].role must be one of system, developer, user, assistant, tool.`,
        { param: `messages[${n}].role` },
      );
  }
}

export const noMessages = (): ApiError =>
  new ApiError(null, "messages must hold at least one user or assistant message.", { param: "messages" });

/**
 * Sorts messages by role (spec: Message roles): instructions of this request, and messages of the conversation. Unless the
 * caller may have tools of its own, tool messages are ignored, because tools run on the server; so are assistant messages
 * without content, which only call tools.
 */
export function readMessages(
  request: CompletionRequest,
  hasOwnTools: boolean,
): { instructions: string | null; messages: InputMessage[] } {
  if (countFiles(request) > MAX_ATTACHMENTS)
    throw new ApiError("too_many_attachments", `A request takes at most ${MAX_ATTACHMENTS} attachments.`, {
      param: "messages",
    });
  const instructions: string[] = [];
  const messages: InputMessage[] = [];
  for (const [n, message] of request.messages.entries()) {
    const { role, content } = message;
    if (role === "system" || role === "developer") instructions.push(readText(content, `messages[${n}].content`));
    const read = readMessage(message, n, hasOwnTools);
    if (read) messages.push(read);
  }
  if (messages.length === 0) throw noMessages();
  attachToLast(request.attachments ?? [], messages);
  return { instructions: instructions.length > 0 ? instructions.join("\n\n") : null, messages };
}

function attachToLast(ids: string[], messages: InputMessage[]): void {
  if (ids.length === 0) return;
  const last = messages.findLast(({ role }) => role === "user");
  if (!last)
    throw new ApiError(null, "attachments needs a user message to attach the files to.", { param: "attachments" });
  for (const [n, file_id] of ids.entries()) last.files.push({ kind: "stored", file_id, param: `attachments[${n}]` });
}
