import type { FastifyRequest } from "fastify";

/** AI SDK, Agents SDK, LangChain and Codex, by the names that they send themselves. */
const CLIENTS = /(?:^|\s)(?:ai\/\d|ai-sdk[-/]|Agents\/\w|langchain|codex[-_ ][\w-]+\/\d)/i;

/**
 * Whether the client runs every tool call it sees, and fails or asks again because it does not have the tool. Such a
 * client gets no tool calls.
 */
export const runsEveryCall = ({ headers }: Pick<FastifyRequest, "headers">): boolean =>
  CLIENTS.test(headers["user-agent"] ?? "");
