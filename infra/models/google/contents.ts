import type { Content, Part as WirePart } from "@google/genai";
import type { ModelMessage, Part } from "#services/turns/model.ts";
import { parseJson, parseObject } from "../wire/json.ts";
import { messageText } from "../wire/messageText.ts";
import { assistantParts, providerCallId } from "./state.ts";

const toWireParts = (part: Part): WirePart[] => {
  if (part.type === "file") return [{ inlineData: { mimeType: part.mime_type, data: part.bytes.toString("base64") } }];
  return part.text === "" ? [] : [{ text: part.text }];
};

/** The API requires an object as the result of a call; other results become its `output`. */
function toFunctionResult(text: string): Record<string, unknown> {
  const value = parseJson(text);
  return parseObject(text) ?? { output: value === undefined ? text : value };
}

/** Google's marker for a call that its model did not make. */
const FOREIGN_CALL = "skip_thought_signature_validator";

/** Newer models refuse an answer whose first call has no signature, as in an answer of another provider or in the caller's own history. */
function signFirstCall(parts: WirePart[]): WirePart[] {
  const first = parts.findIndex(({ functionCall }) => functionCall !== undefined);
  if (first < 0 || parts.some(({ thoughtSignature }) => thoughtSignature !== undefined)) return parts;
  return parts.with(first, { ...parts[first], thoughtSignature: FOREIGN_CALL });
}

/**
 * The conversation in the API's format. Roles must alternate, because a call must directly follow the user's turn: neighbours of
 * one role are merged, and empty messages are left out.
 */
export function toContents(messages: ModelMessage[], requiresSignatures: boolean): Content[] {
  const contents: { role: "user" | "model"; parts: WirePart[] }[] = [];
  const calls = new Map<string, { name: string; id: string | undefined }>();

  function partsFor(message: ModelMessage): WirePart[] {
    if (message.role === "tool") {
      const { name, id } = calls.get(message.call_id) ?? { name: "unknown", id: undefined };
      const response = toFunctionResult(messageText(message.parts));
      return [{ functionResponse: { ...(id !== undefined && { id }), name, response } }];
    }
    if (message.role === "user" || !message.calls) return message.parts.flatMap(toWireParts);
    for (const [n, { id, name }] of message.calls.entries())
      calls.set(id, { name, id: providerCallId(message.opaque, n) });
    const parts = assistantParts(messageText(message.parts), message.calls, message.opaque);
    return requiresSignatures ? signFirstCall(parts) : parts;
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
