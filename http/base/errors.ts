import type { RejectionDetails } from "#events/rejection.ts";

/** The HTTP status of each error code, of the spec and of our extensions. Codes that are not listed are 400. */
const STATUS_BY_CODE: Readonly<Record<string, number>> = {
  missing_api_key: 401,
  invalid_api_key: 401,
  api_key_disabled: 401,
  expired_api_key: 401,
  invalid_session: 401,
  invalid_credentials: 401,
  invalid_start_code: 401,
  missing_webhook_secret: 401,
  invalid_webhook_secret: 401,
  missing_webhook_signature: 401,
  invalid_webhook_signature: 401,
  session_required: 403,
  forbidden: 403,
  cross_origin: 403,
  product_not_enabled: 403,
  approver_not_allowed: 403,
  not_a_reader: 403,
  not_found: 404,
  thread_not_found: 404,
  turn_not_found: 404,
  file_not_found: 404,
  key_not_found: 404,
  provider_not_found: 404,
  price_not_found: 404,
  alias_not_found: 404,
  group_not_found: 404,
  budget_not_found: 404,
  budget_exceeded: 402,
  budget_reserved: 429,
  too_many_budgets: 409,
  agent_api_disabled: 403,
  agent_not_found: 404,
  project_not_found: 404,
  member_not_found: 404,
  response_not_found: 404,
  erasure_not_found: 404,
  erasure_running: 409,
  hold_not_found: 404,
  legal_hold: 409,
  too_many_holds: 409,
  retention_not_found: 404,
  dead_letter_not_found: 404,
  definition_not_found: 404,
  secret_not_found: 404,
  session_not_found: 404,
  collection_not_found: 404,
  source_not_found: 404,
  no_extracted_text: 404,
  no_stored_file: 404,
  extraction_not_found: 404,
  workflow_not_found: 404,
  trigger_not_found: 404,
  run_not_found: 404,
  approval_not_found: 404,
  approval_link_not_found: 404,
  approval_link_ended: 410,
  approval_has_no_run: 409,
  too_many_approval_links: 409,
  too_many_delegations: 409,
  too_many_comments: 409,
  thread_busy: 409,
  already_exists: 409,
  definition_exists: 409,
  definition_in_use: 409,
  project_in_use: 409,
  too_many_triggers: 409,
  too_many_aliases: 409,
  too_many_groups: 409,
  trigger_disabled: 409,
  trigger_has_no_schedule: 409,
  trigger_has_no_secret: 409,
  too_many_schedules: 409,
  too_many_sources: 409,
  already_reading: 409,
  workflow_disabled: 409,
  run_not_live: 409,
  run_continued: 409,
  run_still_live: 409,
  run_completed: 409,
  approval_not_pending: 409,
  already_voted: 409,
  email_taken: 409,
  last_owner: 409,
  request_timeout: 408,
  request_too_large: 413,
  payload_too_large: 413,
  file_too_large: 413,
  thread_too_large: 413,
  storage_limit_reached: 413,
  unsupported_media_type: 415,
  unsupported_file_type: 415,
  idempotency_key_reused: 422,
  rate_limited: 429,
  too_many_attempts: 429,
  too_many_bytes: 429,
  too_many_live_runs: 429,
  too_many_streams: 429,
  headers_too_large: 431,
  unavailable: 503,
  storage_full: 503,
};

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

export const statusForCode = (code: string): number => STATUS_BY_CODE[code] ?? 400;

interface Options {
  /** The invalid field. */
  param?: string | null;
  /** Overrides the status of the code on this route. */
  status?: number;
  retryAfterMs?: number;
  /** Further headers of the answer. */
  headers?: Record<string, string>;
  /** The stream of the thing that holds the unique name. */
  heldBy?: string | undefined;
  cause?: unknown;
}

/**
 * An answer other than success. `errorCode` is null where the spec has no code (500, 502, some 400). It is not called `code`,
 * because the framework sets that property.
 */
export class ApiError extends Error {
  readonly errorCode: string | null;
  readonly status: number;
  readonly param: string | null;
  readonly retryAfterMs: number | undefined;
  readonly headers: Record<string, string>;
  readonly heldBy: string | undefined;

  constructor(code: string | null, message: string, options: Options = {}) {
    super(message, { cause: options.cause });
    this.name = "ApiError";
    this.errorCode = code;
    this.status = options.status ?? (code === null ? 400 : statusForCode(code));
    this.param = options.param ?? null;
    this.retryAfterMs = options.retryAfterMs;
    this.headers = options.headers ?? {};
    this.heldBy = options.heldBy;
  }
}

/** Suggested wait after a conflict or an overload. */
const RETRY_AFTER_MS = 1000;

/** A 500 has no code and no detail (spec: Errors). */
export const internalError = (cause: unknown): ApiError =>
  new ApiError(null, "The server had an error while processing the request.", { status: 500, cause });

/** The code `internal` stands for a command that failed in the service, so it becomes a 500. */
export const rejectionError = ({ code, message, param, held_by: heldBy }: RejectionDetails): ApiError =>
  code === "internal" ? internalError(new Error(message)) : new ApiError(code, message, { param, heldBy });

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

/**
 * Tells clients whether to retry. SDKs retry 409, 429 and 5xx by themselves; that does not help after a 500, whose outcome
 * is unknown, nor after a 502, for which the provider was already called more than once, unless the provider named a time.
 */
export function errorHeaders({ status, errorCode, retryAfterMs }: ApiError): Record<string, string> {
  // somebody has to release it first
  if (errorCode === "legal_hold") return { "x-should-retry": "false" };
  const isBusy = status === 409 || status === 429 || status === 503;
  if (isBusy || (status === 502 && retryAfterMs !== undefined)) {
    const wait = retryAfterMs ?? RETRY_AFTER_MS;
    return {
      "retry-after": String(Math.ceil(wait / 1000)),
      "retry-after-ms": String(wait),
      "x-should-retry": "true",
    };
  }
  // the moment at which the budget begins again is hours away: no client waits for it by itself
  if (status === 402 && retryAfterMs !== undefined)
    return { "retry-after": String(Math.ceil(retryAfterMs / 1000)), "x-should-retry": "false" };
  if (status >= 500) return { "x-should-retry": "false" };
  if (status === 401) return { "www-authenticate": "Bearer" };
  return {};
}
