import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import type { App } from "../app.ts";

/** Paths that clients of this shape try here, and where what they want is. */
const ELSEWHERE: Record<string, string> = {
  responses: "Responses belong to an agent: use {base}/api/agents/{agent_id}/v1/responses.",
  conversations: "Conversations are threads here: send x-thread-id to {base}/api/openai/v1/chat/completions.",
  uploads: "Upload in one part: POST {base}/api/openai/v1/files.",
  embeddings: "There are no embeddings here: search documents through {base}/api/v1/knowledge.",
};

export function misplacedRoutes(app: App, { settings }: Pick<Http, "settings">): void {
  for (const [name, where] of Object.entries(ELSEWHERE)) {
    const refuse = () => {
      throw new ApiError("not_found", where.replace("{base}", settings.BASE_URL));
    };
    for (const url of [`/${name}`, `/${name}/*`]) app.all(url, { onRequest: refuse, schema: { hide: true } }, refuse);
  }
}
