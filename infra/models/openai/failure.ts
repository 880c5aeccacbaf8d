import { APIConnectionError, APIError } from "openai";
import { AddressRefused } from "../../web/address.ts";
import { ModelError } from "#services/turns/model.ts";
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

const codeOf = (error: unknown): string | undefined => {
  const coded = causes(error).find((one) => typeof (one as { code?: unknown }).code === "string");
  return (coded as { code: string } | undefined)?.code;
};

const saidBy = ({ error, message }: APIError): string => {
  const said: { message?: unknown } = error ?? {};
  return typeof said.message === "string" ? said.message : message;
};

/**
 * Turns what the SDK threw into a ModelError.
 * The SDK's error is no cause of it: it carries headers and bodies that may repeat the key.
 */
export function modelError(error: unknown, apiKey: string): ModelError {
  if (error instanceof ModelError) return error;
  const blocked = causes(error).find((one) => one instanceof AddressRefused);
  if (blocked) return new ModelError("refused", "The provider's address is not allowed here.", { cause: blocked });
  if (error instanceof APIError && error.status !== undefined) {
    const message = withoutKey(`The provider answered ${error.status}: ${saidBy(error)}`, apiKey);
    const retry_after_ms = error.headers && retryAfter(error.headers, Date.now());
    return new ModelError(mayPass(error.status) ? "transient" : "refused", message, {
      status: error.status,
      retry_after_ms,
    });
  }
  if (error instanceof APIError && error.error !== undefined) {
    return new ModelError("cut", withoutKey(`The provider broke off: ${saidBy(error)}`, apiKey));
  }
  const broken = causes(error).find((one) => one instanceof BrokenBody);
  const reason = broken instanceof BrokenBody ? broken.message : codeOf(error);
  const why = reason === undefined ? "" : ` (${reason})`;
  return error instanceof APIConnectionError
    ? new ModelError("transient", `The provider could not be reached${why}.`)
    : new ModelError("cut", `The provider broke off in the middle of its answer${why}.`);
}
