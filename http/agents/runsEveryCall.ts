import type { FastifyRequest } from "fastify";

/** AI SDK, Agents SDK, LangChain and Codex, by the names that they send themselves. */
const CLIENTS = /(?:^|\s)(?:ai\/\d|ai-sdk[-/]|Agents\/\w|langchain|codex[-_ ][\w-]+\/\d)/i;

/**
 * Whether the client runs every tool call that it is shown, and fails or asks again because the tools are not its own (wire
 * facts). Such a client is shown none.
 */
export const runsEveryCall = ({ headers }: Pick<FastifyRequest, "headers">): boolean =>
  CLIENTS.test(headers["user-agent"] ?? "");
