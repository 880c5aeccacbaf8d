import { z } from "zod";
import { ModelError } from "#services/turns/model.ts";
import { AddressRefused } from "../../web/address.ts";
import { mayPass } from "../status.ts";
import { BrokenBody } from "./body.ts";
import { retryAfter } from "./retryAfter.ts";

/** A client sees these messages: enough to act on, no more. */
const MAX_MESSAGE = 500;

/** Removes the API key, which some providers repeat in their refusals, from words that a client may see. */
const withoutKey = (message: string, apiKey: string): string =>
  (apiKey === "" ? message : message.replaceAll(apiKey, "[key]")).slice(0, MAX_MESSAGE);

const causes = (error: unknown): unknown[] =>
  error instanceof Error
    ? [error, ...causes(error.cause), ...(error instanceof AggregateError ? error.errors : [])]
    : [];

/** What broke, in brackets, where that can be told in a word. */
function why(error: unknown): string {
  const broken = causes(error).find((one) => one instanceof BrokenBody);
  const coded = causes(error).find((one) => typeof (one as { code?: unknown }).code === "string");
  const reason = broken instanceof BrokenBody ? broken.message : (coded as { code: string } | undefined)?.code;
  return reason === undefined ? "" : ` (${reason})`;
}

const Words = z.object({
  error: z
    .union([z.string(), z.object({ message: z.string() }).transform(({ message }) => message)])
    .nullish()
    .catch(null),
  message: z.string().nullish().catch(null),
});

export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What a provider says of an error: `{error: {message}}`, `{error}`, `{message}`, or a list of such. */
export function wordsIn(body: unknown): string | undefined {
  const { error, message } = Words.safeParse(Array.isArray(body) ? body[0] : body).data ?? {};
  return error ?? message ?? undefined;
}

/** The provider answered with an error. `body`: what it said, parsed; `otherwise`: words for a body that says nothing. */
export function refusal(
  { status, headers, body, otherwise = "" }: { status: number; headers?: Headers; body: unknown; otherwise?: string },
  apiKey: string,
): ModelError {
  const words = wordsIn(body) ?? otherwise;
  const message = `The provider answered ${status}${words === "" ? "." : `: ${words}`}`;
  return new ModelError(mayPass(status) ? "transient" : "refused", withoutKey(message, apiKey), {
    status,
    retry_after_ms: headers && retryAfter(headers, Date.now()),
  });
}

/** No answer came. */
export function unreachable(error: unknown): ModelError {
  const blocked = causes(error).find((one) => one instanceof AddressRefused);
  return blocked
    ? new ModelError("refused", "The provider's address is not allowed here.", { cause: blocked })
    : new ModelError("transient", `The provider could not be reached${why(error)}.`);
}

/** The provider said itself, within its answer, that it could not go on. */
export const gaveUp = (words: string, apiKey: string): ModelError =>
  new ModelError("cut", withoutKey(`The provider broke off: ${words}`, apiKey));

/** The answer ended, or could not be read, before it was whole. */
export const brokeOff = (error: unknown): ModelError =>
  new ModelError("cut", `The provider broke off in the middle of its answer${why(error)}.`);
