import { ApiError } from "../errors.ts";
import { attachmentOf, MAX_ATTACHMENTS, type Named } from "./attachment.ts";
import type { CompletionRequest } from "./schema.ts";

export interface Spoken {
  role: "user" | "assistant";
  text: string;
  files: Named[];
}

type Sent = CompletionRequest["messages"][number];

function textOf(content: Sent["content"], at: string): string {
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

function filesOf(content: Sent["content"], at: string): Named[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((part, n) => attachmentOf(part, `${at}[${n}]`) ?? []);
}

function countFiles(request: CompletionRequest): number {
  const inParts = request.messages
    .filter(({ role }) => role === "user")
    .flatMap(({ content }) => (Array.isArray(content) ? content : []))
    .filter(({ type }) => type === "image_url" || type === "file").length;
  return inParts + (request.attachments?.length ?? 0);
}

/**
 * Sorts messages by role (spec: Message roles): instructions of this request, turns of the conversation, and tool
 * messages, which are ignored as tools run on the server. An assistant message without content only asked for tools.
 */
export function readMessages(request: CompletionRequest): { instructions: string | null; messages: Spoken[] } {
  if (countFiles(request) > MAX_ATTACHMENTS)
    throw new ApiError("too_many_attachments", `A request takes at most ${MAX_ATTACHMENTS} attachments.`, {
      param: "messages",
    });
  const instructions: string[] = [];
  const messages: Spoken[] = [];
  for (const [n, { role, content }] of request.messages.entries()) {
    const at = `messages[${n}].content`;
    if (role === "system" || role === "developer") instructions.push(textOf(content, at));
    else if (role === "assistant") {
      if (content !== null && content !== undefined) messages.push({ role, text: textOf(content, at), files: [] });
    } else if (role === "user") {
      if (content === null || content === undefined)
        throw new ApiError(null, `${at} must be a string or an array of parts.`, { param: at });
      messages.push({ role, text: textOf(content, at), files: filesOf(content, at) });
    } else if (role !== "tool")
      throw new ApiError(
        "invalid_role",
        `messages[${n}].role must be one of system, developer, user, assistant, tool.`,
        {
          param: `messages[${n}].role`,
        },
      );
  }
  if (messages.length === 0)
    throw new ApiError(null, "messages must hold at least one user or assistant message.", { param: "messages" });
  attachToLast(request.attachments ?? [], messages);
  return { instructions: instructions.length > 0 ? instructions.join("\n\n") : null, messages };
}

function attachToLast(ids: string[], messages: Spoken[]): void {
  if (ids.length === 0) return;
  const last = messages.findLast(({ role }) => role === "user");
  if (!last)
    throw new ApiError(null, "attachments needs a user message to attach the files to.", { param: "attachments" });
  last.files.push(...ids.map((file_id, n): Named => ({ kind: "stored", file_id, param: `attachments[${n}]` })));
}
