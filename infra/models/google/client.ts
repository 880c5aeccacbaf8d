import { z } from "zod";
import type { Credential } from "#services/turns/model.ts";
import { withoutVersion } from "../providerAddress.ts";
import type { RequestSender } from "../send.ts";
import { openClient, type Client } from "../wire/client.ts";

const VERSION = "v1beta";
const GOOGLE_URL = "https://generativelanguage.googleapis.com";

/** Google puts the wait into the body of a refusal, as in `"retryDelay": "13.2s"`. */
const ErrorDetails = z.object({
  error: z.object({
    details: z.array(z.unknown()).transform((details) => details.flatMap((one) => RetryInfo.safeParse(one).data ?? [])),
  }),
});
const RetryInfo = z
  .object({ retryDelay: z.string().regex(/^\d{1,9}(\.\d+)?s$/) })
  .transform(({ retryDelay }) => Number.parseFloat(retryDelay));

/** Adds `retry-after` from the body to the headers. Some servers send a list with one error. */
function withRetryDelay(headers: Headers, body: unknown): Headers {
  const [seconds] = ErrorDetails.safeParse(Array.isArray(body) ? body[0] : body).data?.error.details ?? [];
  if (headers.has("retry-after") || seconds === undefined) return headers;
  return new Headers({ "retry-after": String(seconds) });
}

/** A client of Google's API, or of a compatible one at `base_url`. */
export const openGoogle = ({ api_key, base_url }: Credential, send: RequestSender): Client =>
  openClient(
    {
      base: `${withoutVersion(base_url ?? GOOGLE_URL, VERSION)}/${VERSION}`,
      api_key,
      headers: { "x-goog-api-key": api_key },
      headersOf: withRetryDelay,
    },
    send,
  );

/** The path of a model. The names of tuned models include their collection. */
export const modelPath = (model: string): string =>
  /^(tunedM|m)odels\//.test(model) ? `/${model}` : `/models/${model}`;
