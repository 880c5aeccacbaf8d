import { ERROR_STATUS, type ErrorCode } from "#events/errorCodes.ts";
import type { RejectionDetails } from "#events/rejection.ts";

const TYPE_BY_STATUS: Readonly<Record<number, string>> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  429: "rate_limit_error",
  500: "server_error",
  502: "api_error",
  503: "server_error",
};

const STATUSES: Readonly<Record<string, number>> = ERROR_STATUS;

/** The HTTP status of an error code. Codes that only a newer version of the service knows get 400. */
export const statusForCode = (code: string): number => STATUSES[code] ?? 400;

interface Options {
  /** The invalid field. */
  param?: string | null;
  /** Overrides the status of the code on this route. */
  status?: number;
  retryAfterMs?: number;
  /** Retrying is useless until somebody changes a setting, although this status is usually temporary. */
  isFinal?: boolean;
  /** Further headers of the answer. */
  headers?: Record<string, string>;
  /** The stream of the thing that already holds the unique name. */
  heldBy?: string | undefined;
  cause?: unknown;
}

/**
 * Any answer that is not a success. `errorCode` is null where the spec has no code (500, 502, some 400). It is not named `code`,
 * because Fastify sets that property.
 */
export class ApiError extends Error {
  readonly errorCode: ErrorCode | null;
  readonly status: number;
  readonly param: string | null;
  readonly retryAfterMs: number | undefined;
  readonly isFinal: boolean;
  readonly headers: Record<string, string>;
  readonly heldBy: string | undefined;

  constructor(code: ErrorCode | null, message: string, options: Options = {}) {
    super(message, { cause: options.cause });
    this.name = "ApiError";
    this.errorCode = code;
    this.status = options.status ?? (code === null ? 400 : statusForCode(code));
    this.param = options.param ?? null;
    this.retryAfterMs = options.retryAfterMs;
    this.isFinal = options.isFinal ?? false;
    this.headers = options.headers ?? {};
    this.heldBy = options.heldBy;
  }
}

/** Suggested wait after a conflict or an overload. */
const RETRY_AFTER_MS = 1000;

/** A 500 has no code and no detail (spec: Errors). */
export const internalError = (cause: unknown): ApiError =>
  new ApiError(null, "The server had an error while processing the request.", { status: 500, cause });

/** Turns a rejected command into an error. The code `internal` means that the service failed, so it becomes a 500. */
export const rejectionError = ({ code, message, param, held_by: heldBy }: RejectionDetails): ApiError =>
  code === "internal" ? internalError(new Error(message)) : new ApiError(code as ErrorCode, message, { param, heldBy });

/** A 502 has no code (spec: Errors). `retryAfterMs`: the wait that a busy provider asks for. */
export const badGateway = (message: string, cause?: unknown, retryAfterMs?: number): ApiError =>
  new ApiError(null, message, { status: 502, cause, ...(retryAfterMs !== undefined && { retryAfterMs }) });

export interface ErrorBody {
  error: { message: string; type: string; param?: string | null; code: string | null };
}

/** The spec's error object; `bare` omits a null `param`, as the knowledge and extraction APIs do. */
export const errorBody = ({ message, status, param, errorCode }: ApiError, bare = false): ErrorBody => ({
  error: {
    message,
    type: TYPE_BY_STATUS[status] ?? "invalid_request_error",
    ...(bare && param === null ? {} : { param }),
    code: errorCode,
  },
});

/** Conflicts that resolve by themselves. The others last until somebody changes something. */
const PASSING: ReadonlySet<ErrorCode> = new Set([
  "thread_busy",
  "thread_changed",
  "erasure_running",
  "already_reading",
  "run_still_live",
]);

/**
 * Headers that tell clients whether to retry. SDKs retry 409, 429 and 5xx by default. That does not help after a 500, whose
 * outcome is unknown. Nor does it after a 502, unless the provider named a time, because the provider was already called more
 * than once.
 */
export function errorHeaders({ status, errorCode, retryAfterMs, isFinal }: ApiError): Record<string, string> {
  if (isFinal || (status === 409 && !(errorCode && PASSING.has(errorCode)))) return { "x-should-retry": "false" };
  const isBusy = status === 409 || status === 429 || status === 503;
  if (isBusy || (status === 502 && retryAfterMs !== undefined)) {
    const wait = retryAfterMs ?? RETRY_AFTER_MS;
    return {
      "retry-after": String(Math.ceil(wait / 1000)),
      "retry-after-ms": String(wait),
      "x-should-retry": "true",
    };
  }
  // the budget's next period begins in hours or never, so no client should wait for it
  if (status === 402)
    return {
      ...(retryAfterMs !== undefined && { "retry-after": String(Math.ceil(retryAfterMs / 1000)) }),
      "x-should-retry": "false",
    };
  if (status >= 500) return { "x-should-retry": "false" };
  if (status === 401) return { "www-authenticate": "Bearer" };
  return {};
}
