import type { ServerResponse } from "node:http";
import { kindOf, modelObject, MODELS } from "./google/models.ts";
import { sendAnswer, type GoogleAnswer } from "./google/reply.ts";
import { callKey, refusalReason } from "./google/rules.ts";
import { sendJson, type ReceivedRequest } from "./loopback.ts";
import { startModelDouble } from "./modelDouble.ts";

export type { Part } from "./google/reply.ts";

/** Models per page of the list. */
const PAGE_SIZE = 2;

const refuse = (
  response: ServerResponse,
  code: number,
  status: string,
  message: string,
  details?: { reason: string }[],
): void => sendJson(response, code, { error: { code, message, status, ...(details && { details }) } });
/** With these details Google marks a refusal that is about the key. */
const KEY_INVALID = [{ reason: "API_KEY_INVALID" }];

function sendModels({ path }: ReceivedRequest, response: ServerResponse): void {
  const from = Number(new URL(path, "http://x").searchParams.get("pageToken") ?? 0);
  const models = MODELS.slice(from, from + PAGE_SIZE).map(modelObject);
  const hasMore = from + PAGE_SIZE < MODELS.length;
  sendJson(response, 200, { models, ...(hasMore && { nextPageToken: String(from + PAGE_SIZE) }) });
}

/**
 * Google's Gemini API on a loopback port: `/v1beta/models`, `/v1beta/models/{id}` and its `:streamGenerateContent`. It refuses what
 * the real one refuses; its keys begin with `AIza`.
 */
export async function startGoogle() {
  /** The parts of each answer, by its first call. */
  const issued = new Map<string, any[]>();
  return startModelDouble<GoogleAnswer>((request, response, answer = {}) => {
    const { method, path, headers, body } = request;
    const [, name, verb] = /^\/v1beta\/models(?:\/([^?:]+))?(?::(\w+))?/.exec(path) ?? [];
    if (!String(headers["x-goog-api-key"]).startsWith("AIza"))
      return refuse(response, 400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", KEY_INVALID);
    if (method === "GET" && name === undefined && path.startsWith("/v1beta/models"))
      return sendModels(request, response);
    if (!name || !kindOf(name)?.methods.includes("generateContent"))
      return refuse(response, 404, "NOT_FOUND", `models/${name} is not found for API version v1beta.`);
    if (method === "GET") return sendJson(response, 200, modelObject(name));
    if (verb !== "streamGenerateContent" || !path.endsWith("?alt=sse"))
      return refuse(response, 404, "NOT_FOUND", "Not found");
    const reason = refusalReason(body, name, issued);
    if (reason) return refuse(response, 400, "INVALID_ARGUMENT", reason);
    return sendAnswer(answer, body, name, response, (parts) => {
      const key = callKey(parts);
      if (key) issued.set(key, parts);
    });
  });
}
export type GoogleDouble = Awaited<ReturnType<typeof startGoogle>>;
