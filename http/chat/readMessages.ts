import { ApiError } from "../base/errors.ts";
import {
  MAX_ATTACHMENTS,
  readFileAttachment,
  readImageAttachment,
  type AttachmentSource,
} from "../turns/attachment.ts";
import type { InputMessage } from "../turns/turnRequest.ts";
import { readValue } from "../base/validate.ts";
import { Content, type CompletionRequest, type Part } from "./schema.ts";
import { readCalls, readResult, requireText } from "./toolMessages.ts";

type Message = CompletionRequest["messages"][number];

const refused = (param: string, reason: string) => new ApiError(null, `${param}: ${reason}.`, { param });

const parseContent = (content: unknown, at: string): Content =>
  readValue(Content, content, (place, reason) => refused(`${at}${place}`, reason));

function readText(content: Content, at: string): string {
  if (typeof content === "string") return content;
  const texts: string[] = [];
  for (const [n, part] of (content ?? []).entries()) {
    if (part.type !== "text") continue;
    if (typeof part.text !== "string") throw refused(`${at}[${n}].text`, "must be a string");
    texts.push(part.text);
  }
  return texts.join("\n");
}

const fields = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};

/** Reads an attachment part; undefined for other parts. Throws the spec's attachment codes. */
function readAttachment(part: Part, at: string): AttachmentSource | undefined {
  if (part.type === "image_url") return readImageAttachment(fields(part.image_url)["url"], `${at}.image_url.url`);
  if (part.type === "file") return readFileAttachment(fields(part.file), `${at}.file`);
  return undefined;
}

function readFiles(content: Content, at: string): AttachmentSource[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((part, n) => readAttachment(part, `${at}[${n}]`) ?? []);
}

const isFile = (part: unknown): boolean => {
  const { type } = fields(part);
  return type === "image_url" || type === "file";
};

function countFiles({ messages, attachments }: CompletionRequest): number {
  let count = attachments?.length ?? 0;
  for (const { role, content } of messages)
    if (role === "user" && Array.isArray(content)) for (const part of content as unknown[]) if (isFile(part)) count++;
  return count;
}

const ROLES: ReadonlySet<string> = new Set(["system", "developer", "user", "assistant", "tool"]);
const unknownRole = (param: string) =>
  new ApiError("invalid_role", `${param} must be one of system, developer, user, assistant, tool.`, { param });

/**
 * Reads a message of the conversation. Returns undefined for a message that is ignored, and for an instruction, which is added to
 * `instructions` instead.
 */
function readMessage(
  message: Message,
  n: number,
  hasOwnTools: boolean,
  instructions: string[],
): InputMessage | undefined {
  const { role } = message;
  if (role === "tool" && !hasOwnTools) return undefined;
  if (!ROLES.has(role)) throw unknownRole(`messages[${n}].role`);
  const at = `messages[${n}].content`;
  const content = parseContent(message.content, at);
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
    case "tool":
      requireText(content, at);
      return readResult(message, readText(content, at), `messages[${n}]`);
    default:
      instructions.push(readText(content, at));
      return undefined;
  }
}

export const missingMessages = (): ApiError =>
  new ApiError(null, "messages must hold at least one user or assistant message.", { param: "messages" });

/**
 * Sorts messages by role into instructions of this request and messages of the conversation (spec: Message roles). If the caller
 * may not have tools of its own, tool messages and assistant messages without content are ignored: they only record calls, and
 * the server runs its tools itself.
 */
export function readMessages(
  request: CompletionRequest,
  hasOwnTools: boolean,
): { instructions: string | null; messages: InputMessage[] } {
  if (countFiles(request) > MAX_ATTACHMENTS)
    throw new ApiError("too_many_attachments", `A request takes at most ${MAX_ATTACHMENTS} attachments.`, {
      param: (request.attachments?.length ?? 0) > MAX_ATTACHMENTS ? "attachments" : "messages",
    });
  const instructions: string[] = [];
  const messages: InputMessage[] = [];
  for (const [n, message] of request.messages.entries()) {
    const read = readMessage(message, n, hasOwnTools, instructions);
    if (read) messages.push(read);
  }
  if (messages.length === 0) throw missingMessages();
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
