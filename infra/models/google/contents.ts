import type { Content, Part as WirePart } from "@google/genai";
import type { ModelMessage, Part } from "#services/turns/model.ts";
import { ownId, partsOf } from "./state.ts";

const textOf = (parts: Part[]): string => parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");

const wirePart = (part: Part): WirePart[] => {
  if (part.type === "file") return [{ inlineData: { mimeType: part.mime_type, data: part.bytes.toString("base64") } }];
  return part.text === "" ? [] : [{ text: part.text }];
};

/** A result has to be an object; most are one already. */
function responseOf(text: string): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed) ? { ...parsed } : { output: parsed };
  } catch {
    return { output: text };
  }
}

/**
 * The conversation. The two sides take turns, because a call must come right after what the user said: neighbours of one side become
 * one, and a message that says nothing is left out.
 */
export function contentsOf(messages: ModelMessage[]): Content[] {
  const contents: { role: "user" | "model"; parts: WirePart[] }[] = [];
  const calls = new Map<string, { name: string; id: string | undefined }>();

  function partsFor(message: ModelMessage): WirePart[] {
    if (message.role === "tool") {
      const { name, id } = calls.get(message.call_id) ?? { name: "unknown", id: undefined };
      const response = responseOf(textOf(message.parts));
      return [{ functionResponse: { ...(id !== undefined && { id }), name, response } }];
    }
    if (message.role === "user" || !message.calls) return message.parts.flatMap(wirePart);
    for (const [n, { id, name }] of message.calls.entries()) calls.set(id, { name, id: ownId(message.opaque, n) });
    return partsOf(textOf(message.parts), message.calls, message.opaque);
  }

  for (const message of messages) {
    const role = message.role === "assistant" ? "model" : "user";
    const parts = partsFor(message);
    const last = contents.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else if (parts.length > 0) contents.push({ role, parts });
  }
  return contents;
}
