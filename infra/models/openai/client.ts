import type { Credential } from "#services/turns/model.ts";
import type { RequestSender } from "../send.ts";
import { connectionError, refusal } from "../wire/errors.ts";
import { checkedResponse } from "../wire/checkedResponse.ts";

const OPENAI_URL = "https://api.openai.com/v1";

/** Sends one request to a server of OpenAI's API. Throws a ModelError unless it answers with success. */
export type Client = (path: string, signal: AbortSignal, body?: object) => Promise<Response>;

/** Without OpenAI's SDK, which takes a fifth of the processor time of a streamed turn (docs/adr/0062-openais-api-is-read-without-its-sdk.md). */
export function openClient({ api_key, base_url }: Credential, send: RequestSender): Client {
  const base = (base_url ?? OPENAI_URL).replace(/\/$/, "");
  const headers = {
    authorization: `Bearer ${api_key}`,
    accept: "application/json",
    "content-type": "application/json",
    "user-agent": "assistant-platform",
  };
  return async (path, signal, body) => {
    const outgoing = body
      ? { method: "POST", headers, body: JSON.stringify(body), signal }
      : { method: "GET", headers, body: undefined, signal };
    const incoming = await send(base + path, outgoing).catch((error: unknown) => {
      throw connectionError(error);
    });
    const response = checkedResponse(incoming, base + path);
    if (!response.ok) throw await refusal(response, api_key);
    return response;
  };
}
