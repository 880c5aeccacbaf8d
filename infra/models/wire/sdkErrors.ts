import { ModelError } from "#services/turns/model.ts";
import { connectionError, errorMessage, interruptedError, reportedError, statusError } from "./errors.ts";

/** An answer that the SDK treats as an error; without a status it arrived within a stream. */
interface ApiError extends Error {
  readonly status?: number | undefined;
  readonly headers?: Headers | undefined;
  /** The body, parsed. */
  readonly error?: unknown;
}
type Constructor<E> = abstract new (...args: never[]) => E;

/**
 * Converts errors of OpenAI's or Anthropic's SDK, which the same generator made, into ModelErrors. The SDK's error does not become
 * the cause: its headers and body may repeat the key.
 */
export const createErrorConverter =
  ({ APIError, APIConnectionError }: { APIError: Constructor<ApiError>; APIConnectionError: Constructor<Error> }) =>
  (error: unknown, apiKey: string): ModelError => {
    if (error instanceof ModelError) return error;
    if (error instanceof APIConnectionError) return connectionError(error);
    if (!(error instanceof APIError)) return interruptedError(error);
    const { status, headers, error: body, message } = error;
    if (status !== undefined) return statusError({ status, headers, body, fallback: message }, apiKey);
    return body === undefined ? interruptedError(error) : reportedError(errorMessage(body) ?? message, body, apiKey);
  };
