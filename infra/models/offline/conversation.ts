import type { ToolCall } from "#events/thread.ts";
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

export interface RoundBefore {
  calls: ToolCall[];
  /** By call. */
  results: string[];
}

/** Rounds of tools since the user spoke last. */
export function roundsBefore({ messages }: ModelRequest): RoundBefore[] {
  const rounds: RoundBefore[] = [];
  for (const message of messages.slice(messages.findLastIndex(({ role }) => role === "user") + 1)) {
    if (message.role === "assistant" && message.calls) rounds.push({ calls: message.calls, results: [] });
    if (message.role === "tool") rounds.at(-1)?.results.push(textOf(message.parts));
  }
  return rounds;
}
