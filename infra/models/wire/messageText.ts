import type { Part } from "#services/turns/model.ts";

/** The text parts of a message, one per line. */
export const messageText = (parts: Part[]): string =>
  parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
