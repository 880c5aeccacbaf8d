import type { ErrorCode } from "#events/errorCodes.ts";
import { StorageFull, Unavailable } from "#events/ports.ts";
import { ApiError, internalError } from "./errors.ts";

/** Errors of Fastify and its parsers, with the spec's codes. */
const KNOWN: Readonly<Record<string, [code: ErrorCode | null, message: string]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ["request_too_large", "The request body is larger than this route allows."],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ["unsupported_media_type", "The Content-Type must be application/json."],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [null, "The length of the request body differs from its Content-Length."],
  FST_ERR_CTP_EMPTY_TYPE: ["unsupported_media_type", "The Content-Type must not be empty."],
  FST_ERR_BAD_URL: [null, "The path is not a well-formed URL."],
  FST_ERR_MAX_PARAM_LENGTH: ["not_found", "There is nothing at this path."],
  FST_INVALID_MULTIPART_CONTENT_TYPE: ["invalid_multipart", "The body must be multipart/form-data."],
  FST_MP_PREMATURE_CLOSE: ["invalid_multipart", "The multipart body ended before it was complete."],
  FST_PROTO_VIOLATION: ["invalid_multipart", "A part of the multipart body has a name that is not allowed."],
  FST_PARTS_LIMIT: ["invalid_multipart", "The multipart body has too many parts."],
  FST_FILES_LIMIT: ["invalid_multipart", "The multipart body has more than one file."],
  FST_FIELDS_LIMIT: ["invalid_multipart", "The multipart body has too many fields."],
  FST_REQ_FILE_TOO_LARGE: ["file_too_large", "The file is larger than 100 MB."],
  HPE_HEADER_OVERFLOW: ["headers_too_large", "The address and the headers of the request have more than 16 KiB."],
};

/** Converts any error to an answer. Unknown errors become a 500 without details. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof StorageFull)
    return new ApiError("storage_full", "There is no space to store this now; try again later.", {
      retryAfterMs: error.retry_after_ms,
      cause: error,
    });
  if (error instanceof Unavailable)
    return new ApiError("unavailable", "The service is temporarily unavailable; try again shortly.", {
      retryAfterMs: error.retry_after_ms,
      cause: error,
    });
  const {
    code = "",
    statusCode = 500,
    message = "",
  } = (error ?? {}) as { code?: string; statusCode?: number; message?: string };
  const known = KNOWN[code];
  if (known) return new ApiError(known[0], known[1], { cause: error });
  if (statusCode >= 400 && statusCode < 500) return new ApiError(null, message, { status: statusCode, cause: error });
  return internalError(error);
}
