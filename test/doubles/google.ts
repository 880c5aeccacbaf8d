import type { ServerResponse } from "node:http";
import { kindOf, modelObject, MODELS } from "./google/models.ts";
import { reply, type Reply } from "./google/reply.ts";
import { keyOf, refusalOf } from "./google/rules.ts";
import { sendJson, startLoopback, type SeenRequest } from "./loopback.ts";

export type { Part, Reply } from "./google/reply.ts";

/** How it answers; undefined: it repeats what the user said last. */
type Script = (request: SeenRequest) => Reply | undefined;

/** Models of one page of its list. */
const PAGE = 2;

/**
 * Google's Gemini API on a loopback port: `/v1beta/models`, `/v1beta/models/{id}` and its `:streamGenerateContent`. It refuses what
 * the real one refuses; its keys begin with `AIza`.
 */
export async function startGoogle() {
  let script: Script = () => undefined;
  const issued = new Map<string, any[]>();
  const issue = (parts: any[]) => {
    const key = keyOf(parts);
    if (key) issued.set(key, parts);
  };
  const refuse = (response: ServerResponse, code: number, status: string, message: string) =>
    sendJson(response, code, { error: { code, message, status } });

  function list({ path }: SeenRequest, response: ServerResponse): void {
    const from = Number(new URL(path, "http://x").searchParams.get("pageToken") ?? 0);
    const models = MODELS.slice(from, from + PAGE).map(modelObject);
    const more = from + PAGE < MODELS.length;
    sendJson(response, 200, { models, ...(more && { nextPageToken: String(from + PAGE) }) });
  }

  const { origin, requests, close } = await startLoopback((request, response) => {
    const { method, path, headers, body } = request;
    const scripted = script(request);
    const [, name, verb] = /^\/v1beta\/models(?:\/([^?:]+))?(?::(\w+))?/.exec(path) ?? [];
    if (scripted && ("write" in scripted || "status" in scripted))
      return reply(scripted, request, name ?? "", response, issue);
    if (!String(headers["x-goog-api-key"]).startsWith("AIza"))
      return refuse(response, 400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.");
    if (method === "GET" && name === undefined && path.startsWith("/v1beta/models")) return list(request, response);
    if (!name || !kindOf(name)?.methods.includes("generateContent"))
      return refuse(response, 404, "NOT_FOUND", `models/${name} is not found for API version v1beta.`);
    if (method === "GET") return sendJson(response, 200, modelObject(name));
    if (verb !== "streamGenerateContent" || !path.endsWith("?alt=sse"))
      return refuse(response, 404, "NOT_FOUND", "Not found");
    const refused = refusalOf(body, name, issued);
    if (refused) return refuse(response, 400, "INVALID_ARGUMENT", refused);
    return reply(scripted ?? {}, request, name, response, issue);
  });
  return {
    /** Base URL, without `/v1beta`. */
    url: origin,
    requests,
    /** The bodies of requests to generate, oldest first. */
    asked: (): any[] => requests.filter(({ method }) => method === "POST").map(({ body }) => body),
    /** Answers to requests to generate, and to every request where all is written by the script. */
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
export type GoogleDouble = Awaited<ReturnType<typeof startGoogle>>;
