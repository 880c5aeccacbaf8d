import { z } from "zod";
import { ModelError } from "#services/turns/model.ts";
import type { RequestSender } from "../send.ts";
import { connectionError, refusal } from "../wire/errors.ts";
import { sdkFetch } from "../wire/sdkFetch.ts";
import { wholeEvents } from "./wholeEvents.ts";

/** Google puts the time to wait into the body of a refusal, as in `"retryDelay": "13.2s"`. */
const ErrorDetails = z.object({
  error: z.object({
    details: z.array(z.unknown()).transform((details) => details.flatMap((one) => RetryInfo.safeParse(one).data ?? [])),
  }),
});
const RetryInfo = z
  .object({ retryDelay: z.string().regex(/^\d{1,9}(\.\d+)?s$/) })
  .transform(({ retryDelay }) => Number.parseFloat(retryDelay));

/** The headers with a `retry-after` from the body. Some servers send a list of one error. */
function withRetryDelay(headers: Headers, body: unknown): Headers {
  const [seconds] = ErrorDetails.safeParse(Array.isArray(body) ? body[0] : body).data?.error.details ?? [];
  if (headers.has("retry-after") || seconds === undefined) return headers;
  return new Headers({ "retry-after": String(seconds) });
}

const eventReader = (body: AsyncIterable<Uint8Array>) => () => {
  const events = wholeEvents(body);
  return { read: () => events.next(), releaseLock: () => void events.return(undefined) };
};

/** A fetch for the SDK. It throws failures as ModelErrors, because the SDK's errors have neither headers nor causes. */
export function googleFetch(send: RequestSender, apiKey: string): typeof fetch {
  const fetch = sdkFetch(send, ["x-goog-api-key"]);
  return async (input, init) => {
    const response = await fetch(input, init).catch((error: unknown) => {
      throw connectionError(error);
    });
    const { ok, status, headers } = response;
    if (!ok) throw await refusal(response, apiKey, withRetryDelay);
    const body = { getReader: eventReader(response.body as unknown as AsyncIterable<Uint8Array>) };
    return { ok, status, headers, body, json: () => response.json() } as unknown as Response;
  };
}

/** The SDK continues an answer that is too long for one request with further requests, without a limit of its own. */
const MAX_REQUESTS = 32;

/** A fetch for one answer, which throws after too many requests. */
export function limitRequests(fetch: typeof globalThis.fetch): typeof fetch {
  let requests = 0;
  return (input, init) => {
    requests += 1;
    if (requests > MAX_REQUESTS) throw new ModelError("cut", "The provider's answer exceeds the size limit.");
    return fetch(input, init);
  };
}
