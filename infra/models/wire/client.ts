import { encodeLargeJson, isLargeJson } from "#events/largeJson.ts";
import type { AnswerMemory } from "#services/turns/model.ts";
import type { RequestSender } from "../send.ts";
import { checkedResponse } from "./checkedResponse.ts";
import { connectionError, refusal } from "./errors.ts";

/** Sends one request to a provider. `share`: where its answer is counted. Throws a ModelError unless the status is a success. */
export type Client = (path: string, signal: AbortSignal, body?: object, share?: AnswerMemory) => Promise<Response>;

interface ProviderSettings {
  /** The base URL for paths. */
  base: string;
  api_key: string;
  /** Headers that the API requires, such as the credential and the version. */
  headers: Record<string, string>;
  /** Adds headers from the body of a refusal. */
  headersOf?: (headers: Headers, body: unknown) => Headers;
}

/**
 * Opens a client without the provider's SDK. An SDK blocks the event loop for 0.1 s while it loads, and takes 20 MB and a fifth of the
 * processor time of a streamed turn (docs/adr/0062-providers-are-called-without-their-sdks.md).
 */
export function openClient({ base, api_key, headers: own, headersOf }: ProviderSettings, send: RequestSender): Client {
  const headers = {
    ...own,
    accept: "application/json",
    "content-type": "application/json",
    "user-agent": "assistant-platform",
  };
  return async (path, signal, body, share) => {
    const outgoing = body
      ? {
          method: "POST",
          headers,
          body: isLargeJson(body) ? await encodeLargeJson(body) : JSON.stringify(body),
          signal,
        }
      : { method: "GET", headers, body: undefined, signal };
    const incoming = await send(base + path, outgoing).catch((error: unknown) => {
      throw connectionError(error);
    });
    const response = checkedResponse(incoming, base + path, share);
    if (!response.ok) throw await refusal(response, api_key, headersOf);
    return response;
  };
}
