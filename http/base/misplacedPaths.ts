import type { Http } from "./deps.ts";
import { ApiError } from "./errors.ts";
import type { App } from "./app.ts";

const SERVED = "{base}/api/openai/v1 serves chat/completions, models and files.";

/** Paths below the chat base that clients of the OpenAI API try, and what to use instead. */
const INSTEAD_OF_CHAT: Record<string, string> = {
  responses: "Responses belong to agents: use {base}/api/agents/{agent_id}/v1/responses.",
  conversations: "Conversations are called threads here: send x-thread-id to {base}/api/openai/v1/chat/completions.",
  uploads: "Multi-part uploads are not supported: upload the whole file to {base}/api/openai/v1/files.",
  completions: "Prompts without messages are not supported: use {base}/api/openai/v1/chat/completions.",
  moderations: `Moderation is not available. ${SERVED}`,
  audio: `Speech is not available. ${SERVED}`,
  embeddings: "Embeddings are not available: search documents through {base}/api/v1/knowledge.",
  vector_stores:
    "Vector stores are called collections here: use {base}/api/v1/knowledge/collections, and search_documents as a tool.",
  assistants: "Assistants are called agents here: use {base}/api/agents/{agent_id}/v1/responses.",
  batches: "Batches are not available: send each request to {base}/api/openai/v1/chat/completions.",
  deployments:
    "The paths of Azure are not served: use the client for OpenAI, with the base address {base}/api/openai/v1.",
};

/** Paths below the base of an agent, like INSTEAD_OF_CHAT. */
const INSTEAD_OF_AGENT: Record<string, string> = {
  "chat/completions":
    "An agent answers at {base}/api/agents/{agent_id}/v1/responses. Chat completions are at {base}/api/openai/v1/chat/completions.",
  conversations:
    "Conversations are called threads here: send previous_response_id or x-thread-id to {base}/api/agents/{agent_id}/v1/responses.",
  files: "Files are uploaded to {base}/api/openai/v1/files, with the same key and user.",
  embeddings: INSTEAD_OF_CHAT["embeddings"]!,
};

const CHAT_PATH = /^\/api\/openai\/v1(?:\/(?!v1\/)|$)/;
const AGENT_PATH = /^\/api\/agents\/[^/]+\/v1(?:\/(?!v1\/)|$)/;
/** Paths that a client of the OpenAI API requests when its base address is wrong. */
const OPENAI_PATH = /\/(chat\/completions|responses|models|files|embeddings|completions)(\/|$)/;

/** Says which routes a client's base address has, or, for a path of the OpenAI API elsewhere, which base address is right. */
export function hintForPath(path = "", base: string): string {
  if (CHAT_PATH.test(path)) return ` ${SERVED.replace("{base}", base)}`;
  if (AGENT_PATH.test(path)) return " An agent serves responses and models.";
  return OPENAI_PATH.test(path)
    ? ` The base address of clients is ${base}/api/openai/v1 for chat, and ${base}/api/agents/{agent_id}/v1 for an agent.`
    : "";
}

function refusePaths(app: App, { settings }: Pick<Http, "settings">, instead: Record<string, string>): void {
  for (const [name, hint] of Object.entries(instead)) {
    const refuse = () => {
      throw new ApiError("not_found", hint.replaceAll("{base}", settings.BASE_URL));
    };
    for (const url of [`/${name}`, `/${name}/*`]) app.all(url, { onRequest: refuse, schema: { hide: true } }, refuse);
  }
}

/** Refuses unsupported paths of the OpenAI API below the chat base, before their bodies are read. */
export const misplacedChatRoutes = (app: App, http: Pick<Http, "settings">): void =>
  refusePaths(app, http, INSTEAD_OF_CHAT);

/** Refuses unsupported paths of the OpenAI API below the base of an agent, before their bodies are read. */
export const misplacedAgentRoutes = (app: App, http: Pick<Http, "settings">): void =>
  refusePaths(app, http, INSTEAD_OF_AGENT);
