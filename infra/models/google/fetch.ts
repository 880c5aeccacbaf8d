import { z } from "zod";
import { ModelError } from "#services/turns/model.ts";
import type { Send } from "../send.ts";
import { jsonOf, refusal, unreachable } from "../wire/failure.ts";
import { sdkFetch } from "../wire/sdkFetch.ts";
import { wholeEvents } from "./events.ts";

/** How long Google asks to wait stands in the body, as in `"retryDelay": "13.2s"`. */
const Refused = z.object({
  error: z.object({
    details: z.array(z.unknown()).transform((details) => details.flatMap((one) => RetryInfo.safeParse(one).data ?? [])),
  }),
});
const RetryInfo = z
  .object({ retryDelay: z.string().regex(/^\d{1,9}(\.\d+)?s$/) })
  .transform(({ retryDelay }) => Number.parseFloat(retryDelay));

/** Some servers send a list of one error. */
function withDelay(headers: Headers, body: unknown): Headers {
  const [seconds] = Refused.safeParse(Array.isArray(body) ? body[0] : body).data?.error.details ?? [];
  if (headers.has("retry-after") || seconds === undefined) return headers;
  return new Headers({ "retry-after": String(seconds) });
}

const readerOf = (body: AsyncIterable<Uint8Array>) => () => {
  const events = wholeEvents(body);
  return { read: () => events.next(), releaseLock: () => void events.return(undefined) };
};

/** Fetch for the SDK, which keeps neither headers nor causes of an error: failures are told as ModelErrors from here. */
export function googleFetch(send: Send, apiKey: string): typeof fetch {
  const fetch = sdkFetch(send, ["x-goog-api-key"]);
  return async (input, init) => {
    const response = await fetch(input, init).catch((error: unknown) => {
      throw unreachable(error);
    });
    const { ok, status, headers } = response;
    if (!ok) {
      const text = await response.text().catch(() => "");
      const body = jsonOf(text);
      const otherwise = body === undefined ? text : "";
      throw refusal({ status, headers: withDelay(headers, body), body, otherwise }, apiKey);
    }
    const body = { getReader: readerOf(response.body as unknown as AsyncIterable<Uint8Array>) };
    return { ok, status, headers, body, json: () => response.json() } as unknown as Response;
  };
}

/** An answer that is too long for one request is continued by the SDK with further ones; a server may not have it do so for ever. */
const MAX_REQUESTS = 32;

/** The same for one answer. */
export function forOneAnswer(fetchAny: typeof fetch): typeof fetch {
  let requests = 0;
  return (input, init) => {
    requests += 1;
    if (requests > MAX_REQUESTS) throw new ModelError("cut", "The provider's answer had no end.");
    return fetchAny(input, init);
  };
}
