import type { Trace, TracedCall, TracedMessage, TracedRound } from "../../api/trace.ts";

/** Maximum rounds of tools per request, after which the model is not asked again. */
const MAX_ROUNDS = 10;

/** A message as the model received it. */
export interface PromptMessage extends Omit<TracedMessage, "turn_id" | "attachments"> {
  attachments?: TracedMessage["attachments"];
  /** Data that only its provider can read, returned unchanged. */
  opaque?: unknown;
}

const isOpen = ({ status }: TracedCall): boolean => status === "running" || status === "client";

/** The number of model calls: one per round, and one more unless the request waits for a call or ended with one. */
export function countPrompts({ rounds }: Pick<Trace, "rounds">): number {
  const last = rounds.at(-1);
  return rounds.length === MAX_ROUNDS || last?.calls.some(isOpen) ? rounds.length : rounds.length + 1;
}

const toMessages = ({ text, calls, opaque }: TracedRound): PromptMessage[] => [
  {
    role: "assistant",
    text,
    calls: calls.map(({ id, name, arguments: args }) => ({ id, name, arguments: args })),
    opaque,
  },
  ...calls.map(({ id, output }): PromptMessage => ({ role: "tool", call_id: id, text: output ?? "" })),
];

/** The messages that the rounds before the `nth` model call (from 0) added to the conversation. */
export const roundMessages = ({ rounds }: Pick<Trace, "rounds">, nth: number): PromptMessage[] =>
  rounds.slice(0, nth).flatMap(toMessages);

/** The names of the tools whose results a model call received first: "search_documents, web_fetch". */
export const precedingTools = ({ rounds }: Pick<Trace, "rounds">, nth: number): string =>
  [...new Set(rounds[nth - 1]?.calls.map(({ name }) => name))].join(", ");
