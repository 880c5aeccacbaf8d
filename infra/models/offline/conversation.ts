import type { ModelRequest, Part } from "#services/turns/model.ts";

export type FilePart = Extract<Part, { type: "file" }>;

export const textOf = (parts: Part[]): string =>
  parts
    .map((part) => (part.type === "text" ? part.text : ""))
    .filter((text) => text !== "")
    .join("\n");

export const filesOf = (parts: Part[]): FilePart[] => parts.filter((part) => part.type === "file");

/** The parts of what the user said last; empty when only the assistant has spoken. */
export const lastUserParts = ({ messages }: ModelRequest): Part[] =>
  messages.findLast(({ role }) => role === "user")?.parts ?? [];
