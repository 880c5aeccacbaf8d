import { currentTime } from "#events/clock.ts";
import { findExcess } from "#events/jsonLimits.ts";
import { EndpointFailed, type SearchEndpoint } from "#services/knowledge/searchEndpoints.ts";
import { WebError } from "#services/turns/tools/web.ts";
import { joinUrl } from "../joinUrl.ts";
import { retryAfter } from "../models/wire/retryAfter.ts";
import { download } from "../web/download.ts";
import type { GuardedFetch } from "../web/guardedFetch.ts";

/** Statuses by which an endpoint refuses the texts of a request rather than the caller. */
const REFUSES_TEXTS = new Set([400, 413, 422]);

interface PostOptions {
  path: string;
  body: object;
  max_bytes: number;
  /** Maximum tokens of the answer, which is parsed in one piece: brackets, commas and strings count one each, colons four. */
  max_tokens: number;
  timeout_ms: number;
  signal: AbortSignal;
}

/** Posts JSON to an endpoint that a tenant chose, and parses its answer. Throws EndpointFailed. */
export async function postJson(
  fetch: GuardedFetch,
  { base_url, api_key }: SearchEndpoint,
  { path, body, max_bytes, max_tokens, timeout_ms, signal }: PostOptions,
): Promise<unknown> {
  const url = joinUrl(base_url, path);
  const headers = {
    authorization: `Bearer ${api_key}`,
    "content-type": "application/json",
    accept: "application/json",
  };
  const init = { method: "POST", headers, body: JSON.stringify(body) };
  try {
    const answer = await download(fetch, url, init, signal, { max_bytes, timeout_ms });
    if (answer.status !== 200) throw refusal(answer.status, answer.headers);
    const excess = findExcess(answer.bytes, max_tokens);
    if (excess) throw new EndpointFailed(`The endpoint's answer ${excess}.`);
    return JSON.parse(answer.bytes.toString());
  } catch (error) {
    if (error instanceof EndpointFailed || signal.aborted) throw error;
    const why = error instanceof WebError ? error.message : "The endpoint did not answer with JSON.";
    throw new EndpointFailed(why, { cause: error });
  }
}

function refusal(status: number, headers: Headers): EndpointFailed {
  const wait = retryAfter(headers, currentTime());
  return new EndpointFailed(`The endpoint answered ${status}.`, {
    isRefusal: REFUSES_TEXTS.has(status),
    ...(wait !== undefined && { retry_after_ms: wait }),
  });
}
