import { ModelError } from "#services/turns/model.ts";
import { brokeOff, gaveUp, refusal, unreachable, wordsIn } from "./failure.ts";

/** An answer that an SDK took for an error; without a status it came within a stream. */
interface ApiError extends Error {
  readonly status?: number | undefined;
  readonly headers?: Headers | undefined;
  /** The body, parsed. */
  readonly error?: unknown;
}
type Constructor<E> = abstract new (...args: never[]) => E;

/**
 * Turns what OpenAI's or Anthropic's SDK threw (both are made by the same generator) into a ModelError.
 * The SDK's error is no cause of it: it carries headers and bodies that may repeat the key.
 */
export const modelErrors =
  ({ APIError, APIConnectionError }: { APIError: Constructor<ApiError>; APIConnectionError: Constructor<Error> }) =>
  (error: unknown, apiKey: string): ModelError => {
    if (error instanceof ModelError) return error;
    if (error instanceof APIConnectionError) return unreachable(error);
    if (!(error instanceof APIError)) return brokeOff(error);
    const { status, headers, error: body, message } = error;
    if (status !== undefined) return refusal({ status, headers, body, otherwise: message }, apiKey);
    return body === undefined ? brokeOff(error) : gaveUp(wordsIn(body) ?? message, apiKey);
  };
