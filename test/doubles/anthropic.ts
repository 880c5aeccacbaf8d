import type { ServerResponse } from "node:http";
import { MODELS, modelObject } from "./anthropic/models.ts";
import { reply, type Reply } from "./anthropic/reply.ts";
import { refusalOf } from "./anthropic/rules.ts";
import { sendJson, startLoopback, type SeenRequest } from "./loopback.ts";

export type { Block, Reply } from "./anthropic/reply.ts";

/** How it answers; undefined: it repeats what the user said last. */
type Script = (request: SeenRequest) => Reply | undefined;

const KEY = /^Bearer sk-ant-/;
const VERSION = "2026-10-21";

const errorBody = (type: string, message: string) => ({
  type: "error",
  error: { type, message, details: null },
  request_id: "req_test",
});

/**
 * Anthropic on a loopback port: `/v1/models`, `/v1/models/{id}` and `/v1/messages`, always streamed. It refuses what the real one
 * refuses; its keys begin with `sk-ant-`.
 */
export async function startAnthropic() {
  let script: Script = () => undefined;
  const issued = new Map<string, any[]>();
  const issue = (blocks: any[]) => {
    for (const { type, id } of blocks) if (type === "tool_use") issued.set(id, blocks);
  };
  const refuse = (response: ServerResponse, status: number, type: string, message: string) =>
    sendJson(response, status, errorBody(type, message));

  function models({ path }: SeenRequest, response: ServerResponse): void {
    const id = /^\/v1\/models\/([^?]+)/.exec(path)?.[1];
    if (id === undefined) {
      const data = MODELS.map(modelObject);
      return sendJson(response, 200, { data, has_more: false, first_id: MODELS[0], last_id: MODELS.at(-1) });
    }
    if (MODELS.includes(id)) return sendJson(response, 200, modelObject(id));
    return refuse(response, 404, "not_found_error", `model: ${id}`);
  }

  const { origin, requests, close } = await startLoopback((request, response) => {
    const { method, path, headers, body } = request;
    const scripted = script(request);
    if (scripted && ("write" in scripted || "status" in scripted)) return reply(scripted, request, response, issue);
    if (!KEY.test(headers.authorization ?? ""))
      return refuse(response, 401, "authentication_error", "invalid x-api-key");
    if (headers["anthropic-version"] !== VERSION)
      return refuse(response, 400, "invalid_request_error", "anthropic-version: is not a valid version");
    if (method === "GET" && path.startsWith("/v1/models")) return models(request, response);
    if (method !== "POST" || path !== "/v1/messages") return refuse(response, 404, "not_found_error", "Not found");
    const refused = refusalOf(body, issued);
    if (refused) return refuse(response, 400, "invalid_request_error", refused);
    return reply(scripted ?? {}, request, response, issue);
  });
  return {
    /** Base URL, without `/v1`. */
    url: origin,
    requests,
    /** The bodies of requests to speak, oldest first. */
    asked: (): any[] => requests.filter(({ method }) => method === "POST").map(({ body }) => body),
    /** Answers to requests to speak, and to every request where all is written by the script. */
    script: (next: Script | Reply) => (script = typeof next === "function" ? next : () => next),
    /** Answers one after the other; the last is repeated. */
    answers(...replies: Reply[]) {
      let n = 0;
      requests.length = 0;
      script = ({ method }) => (method === "POST" ? replies[Math.min(n++, replies.length - 1)] : undefined);
    },
    close,
  };
}
export type AnthropicDouble = Awaited<ReturnType<typeof startAnthropic>>;
