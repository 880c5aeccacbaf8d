import type { ServerResponse } from "node:http";
import { sendJson, startLoopback, type SeenRequest } from "./loopback.ts";
import { reply, type Reply } from "./providerReply.ts";

export type { Reply } from "./providerReply.ts";
export type { SeenRequest } from "./loopback.ts";

/** How the provider answers; undefined: like a real one that repeats what the user said last. */
export type Script = (request: SeenRequest) => Reply | undefined;

export interface Provider {
  /** Base URL, with `/v1`. */
  url: string;
  /** The last 1,000 requests, oldest first. */
  requests: SeenRequest[];
  script(script: Script | Reply): void;
  close(): Promise<void>;
}

const MODELS = ["gpt-test", "gpt-other"];

const modelList = {
  object: "list",
  data: MODELS.map((id) => ({ id, object: "model", created: 1_700_000_000, owned_by: "test" })),
};

/** A provider on a loopback port that speaks OpenAI's chat completions API: `GET /v1/models`, `POST /v1/chat/completions`. */
export async function startProvider(): Promise<Provider> {
  let script: Script = () => undefined;
  const { origin, requests, close } = await startLoopback((request: SeenRequest, response: ServerResponse) => {
    const { method, path } = request;
    const scripted = script(request);
    if (scripted) return reply(scripted, request, response);
    if (method === "GET" && path === "/v1/models") return sendJson(response, 200, modelList);
    if (method === "POST" && path === "/v1/chat/completions") return reply({}, request, response);
    return sendJson(response, 404, {
      error: { message: `Invalid URL (${method} ${path})`, type: "invalid_request_error", param: null, code: null },
    });
  });
  return {
    url: `${origin}/v1`,
    requests,
    script: (next) => (script = typeof next === "function" ? next : () => next),
    close,
  };
}
