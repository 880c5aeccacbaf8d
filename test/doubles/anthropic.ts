import type { ServerResponse } from "node:http";
import { MODELS, modelObject } from "./anthropic/models.ts";
import { sendMessage, type Message } from "./anthropic/reply.ts";
import { refusalReason } from "./anthropic/rules.ts";
import { sendJson, type ReceivedRequest } from "./loopback.ts";
import { startModelDouble } from "./modelDouble.ts";

export type { Block } from "./anthropic/reply.ts";

const KEY = /^Bearer sk-ant-/;
const VERSION = "2026-10-21";

const refuse = (response: ServerResponse, status: number, type: string, message: string): void =>
  sendJson(response, status, { type: "error", error: { type, message, details: null }, request_id: "req_test" });

function sendModels({ path }: ReceivedRequest, response: ServerResponse): void {
  const id = /^\/v1\/models\/([^?]+)/.exec(path)?.[1];
  if (id === undefined) {
    const data = MODELS.map(modelObject);
    return sendJson(response, 200, { data, has_more: false, first_id: MODELS[0], last_id: MODELS.at(-1) });
  }
  if (MODELS.includes(id)) return sendJson(response, 200, modelObject(id));
  return refuse(response, 404, "not_found_error", `model: ${id}`);
}

/**
 * Anthropic on a loopback port: `/v1/models`, `/v1/models/{id}` and `/v1/messages`, always streamed. It refuses what the real one
 * refuses; its keys begin with `sk-ant-`.
 */
export async function startAnthropic() {
  /** The blocks of each answer, by the ids of its calls. */
  const issued = new Map<string, any[]>();
  return startModelDouble<Message>((request, response, message = {}) => {
    const { method, path, headers, body } = request;
    if (!KEY.test(headers.authorization ?? ""))
      return refuse(response, 401, "authentication_error", "invalid x-api-key");
    if (headers["anthropic-version"] !== VERSION)
      return refuse(response, 400, "invalid_request_error", "anthropic-version: is not a valid version");
    if (method === "GET" && path.startsWith("/v1/models")) return sendModels(request, response);
    if (method !== "POST" || path !== "/v1/messages") return refuse(response, 404, "not_found_error", "Not found");
    const reason = refusalReason(body, issued);
    if (reason) return refuse(response, 400, "invalid_request_error", reason);
    return sendMessage(message, body, response, (blocks) => {
      for (const { type, id } of blocks) if (type === "tool_use") issued.set(id, blocks);
    });
  });
}
export type AnthropicDouble = Awaited<ReturnType<typeof startAnthropic>>;
