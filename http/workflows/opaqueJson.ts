import type { FastifyRequest } from "fastify";
import type { App } from "../base/app.ts";
import { ApiError } from "../base/errors.ts";
import { parseOpaqueJson } from "../base/json.ts";
import { parseBodies } from "../base/parseBodies.ts";

/**
 * In this scope, bodies are a caller's own data: JSON of one of these content types, passed on unchanged even if it has field
 * names such as `__proto__`.
 */
export function acceptOpaqueJson(
  scope: App,
  types: string | string[] = "application/json",
  parse: (bytes: Buffer, request: FastifyRequest) => unknown = parseOpaqueJson,
): void {
  parseBodies(scope, types, parse);
  scope.setErrorHandler<Error & { code?: string }>((error) => {
    if (error.code !== "FST_ERR_CTP_BODY_TOO_LARGE") throw error;
    throw new ApiError("payload_too_large", "The request body is larger than 1 MiB.", { cause: error });
  });
}
