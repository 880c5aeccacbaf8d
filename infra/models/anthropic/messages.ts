import type { ContentBlockParam, MessageParam } from "@anthropic-ai/sdk/resources/messages";
import type { ModelMessage, Part } from "#services/turns/model.ts";
import { blocksOf } from "./state.ts";

type File = Extract<Part, { type: "file" }>;

/** The provider decides what it can read: a type that it does not know goes out as what it says it is. */
function fileBlock({ filename, mime_type, bytes }: File): ContentBlockParam {
  if (mime_type.startsWith("text/"))
    return {
      type: "document",
      title: filename,
      source: { type: "text", media_type: "text/plain", data: bytes.toString("utf8") },
    };
  const data = bytes.toString("base64");
  if (mime_type.startsWith("image/"))
    return { type: "image", source: { type: "base64", media_type: mime_type as "image/png", data } };
  return {
    type: "document",
    title: filename,
    source: { type: "base64", media_type: mime_type as "application/pdf", data },
  };
}

const textOf = (parts: Part[]): string => parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");

/** Blocks of nothing but white space are refused. */
const partBlock = (part: Part): ContentBlockParam[] => {
  if (part.type === "file") return [fileBlock(part)];
  return part.text.trim() === "" ? [] : [{ type: "text", text: part.text }];
};

function contentOf(message: ModelMessage): ContentBlockParam[] {
  if (message.role === "tool")
    return [{ type: "tool_result", tool_use_id: message.call_id, content: textOf(message.parts) }];
  if (message.role === "assistant" && message.calls)
    return blocksOf(textOf(message.parts), message.calls, message.opaque);
  return message.parts.flatMap(partBlock);
}

/** The conversation. All results of an answer's calls stand in the one message after it; a message that says nothing is left out. */
export function messagesOf(messages: ModelMessage[]): MessageParam[] {
  const wire: { role: "user" | "assistant"; content: ContentBlockParam[]; results: boolean }[] = [];
  for (const message of messages) {
    const results = message.role === "tool";
    const role = message.role === "assistant" ? "assistant" : "user";
    const content = contentOf(message);
    const last = wire.at(-1);
    if (results && last?.results) last.content.push(...content);
    else if (content.length > 0) wire.push({ role, content, results });
  }
  return wire.map(({ role, content }) => ({ role, content }));
}
