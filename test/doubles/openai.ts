import { sendJson } from "./loopback.ts";
import { startModelDouble, type RawReply } from "./modelDouble.ts";
import { sendCompletion, type Completion } from "./openai/reply.ts";

export type { ReceivedRequest } from "./loopback.ts";
export type Reply = Completion | RawReply;

const MODELS = ["gpt-test", "gpt-other"];

const modelList = {
  object: "list",
  data: MODELS.map((id) => ({ id, object: "model", created: 1_700_000_000, owned_by: "test" })),
};

const errorBody = (message: string) => ({
  error: { message, type: "invalid_request_error", param: null, code: null },
});

/** OpenAI refuses ids of calls that are longer. */
const MAX_CALL_ID = 40;
const longCallId = (body: any): string | undefined =>
  (body?.messages ?? [])
    .flatMap(({ tool_calls = [], tool_call_id }: any) => [...tool_calls.map(({ id }: any) => id), tool_call_id ?? ""])
    .find((id: string) => id.length > MAX_CALL_ID);

/**
 * OpenAI on a loopback port: `GET /v1/models` and `POST /v1/chat/completions`. It refuses keys that begin with `wrong`. A scripted
 * completion answers any request.
 */
export async function startOpenai() {
  const double = await startModelDouble<Completion>((request, response, completion) => {
    const { method, path, headers } = request;
    if (headers.authorization?.startsWith("Bearer wrong"))
      return sendJson(response, 401, errorBody("Incorrect API key provided."));
    if (longCallId(request.body))
      return sendJson(response, 400, errorBody("Invalid 'messages[1].tool_calls[0].id': string too long."));
    if (completion || (method === "POST" && path === "/v1/chat/completions"))
      return sendCompletion(completion ?? {}, request, response);
    if (method === "GET" && path === "/v1/models") return sendJson(response, 200, modelList);
    return sendJson(response, 404, errorBody(`Invalid URL (${method} ${path})`));
  });
  /** Base URL, with `/v1`. */
  return { ...double, url: `${double.url}/v1` };
}
export type OpenaiDouble = Awaited<ReturnType<typeof startOpenai>>;
