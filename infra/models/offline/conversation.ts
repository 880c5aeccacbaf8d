import type { ToolCall } from "#events/thread.ts";
import type { ModelRequest, Part } from "#services/turns/model.ts";

export type FilePart = Extract<Part, { type: "file" }>;

export const joinTexts = (parts: Part[]): string =>
  parts
    .map((part) => (part.type === "text" ? part.text : ""))
    .filter((text) => text !== "")
    .join("\n");

export const filesOf = (parts: Part[]): FilePart[] => parts.filter((part) => part.type === "file");

/** The parts of the last user message; empty if there is none. */
export const lastUserParts = ({ messages }: ModelRequest): Part[] =>
  messages.findLast(({ role }) => role === "user")?.parts ?? [];

export interface ToolRound {
  calls: ToolCall[];
  /** By index of the call. */
  results: string[];
}

/** The rounds of tools after the last user message. */
export function toolRounds({ messages }: ModelRequest): ToolRound[] {
  const rounds: ToolRound[] = [];
  for (const message of messages.slice(messages.findLastIndex(({ role }) => role === "user") + 1)) {
    if (message.role === "assistant" && message.calls) rounds.push({ calls: message.calls, results: [] });
    if (message.role === "tool") rounds.at(-1)?.results.push(joinTexts(message.parts));
  }
  return rounds;
}
