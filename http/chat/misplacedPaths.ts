import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import type { App } from "../base/app.ts";

/** Paths that clients of the OpenAI API try, with what to use instead. */
const INSTEAD: Record<string, string> = {
  responses: "Responses belong to agents: use {base}/api/agents/{agent_id}/v1/responses.",
  conversations: "Conversations are called threads here: send x-thread-id to {base}/api/openai/v1/chat/completions.",
  uploads: "Multi-part uploads are not supported: upload the whole file to {base}/api/openai/v1/files.",
  completions: "Prompts without messages are not supported: use {base}/api/openai/v1/chat/completions.",
  moderations: "Moderation is not available. {base}/api/openai/v1 serves chat/completions, models and files.",
  audio: "Speech is not available. {base}/api/openai/v1 serves chat/completions, models and files.",
  embeddings: "Embeddings are not available: search documents through {base}/api/v1/knowledge.",
};

/** Paths that clients of the OpenAI API ask for when their base address is another one. */
const OPENAI_PATH = /\/(chat\/completions|responses|models|files|embeddings|completions)(\/|$)/;

/** Where the APIs are, for a path of the OpenAI API below no base address of ours. */
export const hintForPath = (path: string | undefined, base: string): string =>
  path !== undefined && OPENAI_PATH.test(path)
    ? ` The base address of clients is ${base}/api/openai/v1 for chat, and ${base}/api/agents/{agent_id}/v1 for an agent.`
    : "";

export function misplacedRoutes(app: App, { settings }: Pick<Http, "settings">): void {
  for (const [name, hint] of Object.entries(INSTEAD)) {
    const refuse = () => {
      throw new ApiError("not_found", hint.replace("{base}", settings.BASE_URL));
    };
    for (const url of [`/${name}`, `/${name}/*`]) app.all(url, { onRequest: refuse, schema: { hide: true } }, refuse);
  }
}
