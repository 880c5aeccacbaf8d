import { z } from "zod";
import { currentTime } from "#events/clock.ts";
import { ModelError } from "#services/turns/model.ts";
import { AddressRefused } from "../../web/address.ts";
import { isTransientStatus } from "../transientStatus.ts";
import { InvalidBody } from "./body.ts";
import { parseJson } from "./json.ts";
import { refusalReason } from "./refusalReason.ts";
import { retryAfter } from "./retryAfter.ts";

/** Maximum UTF-16 units of a message, which API clients see. */
const MAX_MESSAGE = 500;
/** Maximum characters examined of a provider's message, which may have megabytes. */
const MAX_REASON = 4_096;
/** Maximum bytes of a refusal's body that is parsed. */
const MAX_ERROR_BODY = 64 * 1024;

/** Characters of a key that a provider may show to identify it, as in `sk-pro***abcd`. Shorter keys are never shown in part. */
const KEY_START = 6;
const KEY_END = 4;

/** Removes the API key and abbreviations of it, which some providers repeat in their errors, and cuts the message. */
function safeMessage(message: string, apiKey: string): string {
  const hints = apiKey.length > KEY_START + KEY_END ? [apiKey.slice(0, KEY_START), apiKey.slice(-KEY_END)] : [];
  const isHint = (word: string) => hints.some((hint) => word.includes(hint));
  const start = message.slice(0, MAX_REASON);
  return (apiKey === "" ? start : start.replaceAll(apiKey, "[key]"))
    .replace(/[^\s"'`()<>{}[\],;]+/g, (word) => (isHint(word) ? "[key]" : word))
    .slice(0, MAX_MESSAGE);
}

const causeChain = (error: unknown): unknown[] =>
  error instanceof Error
    ? [error, ...causeChain(error.cause), ...(error instanceof AggregateError ? error.errors : [])]
    : [];

/** The cause in brackets, such as ` (ECONNREFUSED)`; empty if no error in the chain has a code. */
function describeCause(error: unknown): string {
  const invalid = causeChain(error).find((cause) => cause instanceof InvalidBody);
  const coded = causeChain(error).find((cause) => typeof (cause as { code?: unknown }).code === "string");
  const reason = invalid instanceof InvalidBody ? invalid.message : (coded as { code: string } | undefined)?.code;
  return reason === undefined ? "" : ` (${reason})`;
}

const ErrorBody = z.object({
  error: z
    .union([z.string(), z.object({ message: z.string() }).transform(({ message }) => message)])
    .nullish()
    .catch(null),
  message: z.string().nullish().catch(null),
});

/** The message in an error body: `{error: {message}}`, `{error}`, `{message}`, or a list of such objects. */
export function errorMessage(body: unknown): string | undefined {
  const { error, message } = ErrorBody.safeParse(Array.isArray(body) ? body[0] : body).data ?? {};
  return error ?? message ?? undefined;
}

interface ErrorResponse {
  status: number;
  headers?: Headers;
  /** Parsed JSON. */
  body: unknown;
  /** Used if the body has no message. */
  fallback?: string;
}

const CREDENTIAL_REFUSED =
  "The provider refused the credential that is configured for it. An administrator must check the provider's API key.";

/** Codes and types by which providers say that the credential is the reason. */
const CREDENTIAL_CODES = new Set<unknown>([
  401,
  403,
  "invalid_api_key",
  "authentication_error",
  "permission_error",
  "UNAUTHENTICATED",
  "PERMISSION_DENIED",
  "API_KEY_INVALID",
]);
const ErrorCodes = z.object({
  error: z.object({
    code: z.unknown().optional(),
    type: z.unknown().optional(),
    status: z.unknown().optional(),
    details: z.array(z.object({ reason: z.unknown() }).catch({ reason: undefined })).catch([]),
  }),
});

function namesCredential(body: unknown): boolean {
  const { error } = ErrorCodes.safeParse(Array.isArray(body) ? body[0] : body).data ?? {};
  if (!error) return false;
  return [error.code, error.type, error.status, ...error.details.map(({ reason }) => reason)].some((code) =>
    CREDENTIAL_CODES.has(code),
  );
}

/** The provider answered with an error status. Details about the credential are for administrators only. */
function statusError({ status, headers, body, fallback = "" }: ErrorResponse, apiKey: string): ModelError {
  const reason = (errorMessage(body) ?? fallback).slice(0, MAX_REASON);
  const message = safeMessage(`The provider answered ${status}${reason === "" ? "." : `: ${reason}`}`, apiKey);
  const retry_after_ms = headers && retryAfter(headers, currentTime());
  if (status === 401 || status === 403 || (status === 400 && namesCredential(body)))
    return new ModelError("refused", CREDENTIAL_REFUSED, { status, retry_after_ms, details: message });
  const kind = isTransientStatus(status) ? "transient" : "refused";
  return new ModelError(kind, message, { status, retry_after_ms, reason: refusalReason(status, body, reason) });
}

/** Like statusError, but reads the response's body first. `headersOf` adds headers from the body. */
export async function refusal(
  response: Response,
  apiKey: string,
  headersOf: (headers: Headers, body: unknown) => Headers = (headers) => headers,
): Promise<ModelError> {
  const text = await response.text().catch(() => "");
  const body = text.length > MAX_ERROR_BODY ? undefined : parseJson(text);
  const headers = headersOf(response.headers, body);
  return statusError({ status: response.status, headers, body, fallback: body === undefined ? text : "" }, apiKey);
}

/** The error of a request that got no answer. */
export function connectionError(error: unknown): ModelError {
  const refused = causeChain(error).find((cause) => cause instanceof AddressRefused);
  return refused
    ? new ModelError("refused", "The provider's address is not allowed here.", { cause: refused })
    : new ModelError("transient", `The provider could not be reached${describeCause(error)}.`);
}

/** The error that a provider reported in the middle of its answer. */
export function reportedError(reason: string, body: unknown, apiKey: string): ModelError {
  const message = safeMessage(`The provider broke off: ${reason}`, apiKey);
  return namesCredential(body)
    ? new ModelError("cut", CREDENTIAL_REFUSED, { details: message })
    : new ModelError("cut", message);
}

/** The error of an answer that ended or became unreadable before it was complete. */
export const interruptedError = (error: unknown): ModelError =>
  new ModelError("cut", `The provider broke off in the middle of its answer${describeCause(error)}.`);
