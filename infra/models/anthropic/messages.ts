import type { ContentBlockParam, MessageParam } from "@anthropic-ai/sdk/resources/messages";
import { isSentAsPicture } from "#events/requestSize.ts";
import type { ModelMessage, Part } from "#services/turns/model.ts";
import { messageText } from "../wire/messageText.ts";
import { assistantBlocks, toWireId } from "./state.ts";

type File = Extract<Part, { type: "file" }>;

/** Unknown media types are sent as they are: the provider refuses what it cannot read. */
function fileBlock({ filename, mime_type, bytes }: File): ContentBlockParam {
  if (mime_type.startsWith("text/"))
    return {
      type: "document",
      title: filename,
      source: { type: "text", media_type: "text/plain", data: bytes.toString("utf8") },
    };
  const data = bytes.toString("base64");
  if (isSentAsPicture(mime_type))
    return { type: "image", source: { type: "base64", media_type: mime_type as "image/png", data } };
  return {
    type: "document",
    title: filename,
    source: { type: "base64", media_type: mime_type as "application/pdf", data },
  };
}

/** The API refuses text blocks that contain only white space. */
const partBlocks = (part: Part): ContentBlockParam[] => {
  if (part.type === "file") return [fileBlock(part)];
  return part.text.trim() === "" ? [] : [{ type: "text", text: part.text }];
};

function messageBlocks(message: ModelMessage): ContentBlockParam[] {
  if (message.role === "tool")
    return [{ type: "tool_result", tool_use_id: toWireId(message.call_id), content: messageText(message.parts) }];
  if (message.role === "assistant" && message.calls)
    return assistantBlocks(messageText(message.parts), message.calls, message.opaque);
  return message.parts.flatMap(partBlocks);
}

/** The conversation in the API's format. All results of an answer's calls go into one message; empty messages are left out. */
export function toMessages(messages: ModelMessage[]): MessageParam[] {
  const wire: { role: "user" | "assistant"; content: ContentBlockParam[]; isResult: boolean }[] = [];
  for (const message of messages) {
    const isResult = message.role === "tool";
    const role = message.role === "assistant" ? "assistant" : "user";
    const content = messageBlocks(message);
    const last = wire.at(-1);
    if (isResult && last?.isResult) last.content.push(...content);
    else if (content.length > 0) wire.push({ role, content, isResult });
  }
  return wire.map(({ role, content }) => ({ role, content }));
}
