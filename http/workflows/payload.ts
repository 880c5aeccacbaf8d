import { createHash } from "node:crypto";
import type { App } from "../app.ts";
import { ApiError } from "../errors.ts";
import { parseData } from "../json.ts";

/** Bodies here hold a caller's own data: JSON that is passed on as it is, whatever its names, by one of these content types. */
export function readData(scope: App, types: string | string[] = "application/json"): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(types, { parseAs: "buffer" }, (request, body, done) => {
    const bytes = body as Buffer;
    if (bytes.length === 0) return done(null, undefined);
    request.bodyHash = createHash("sha256").update(bytes).digest("hex");
    request.bodyBytes = bytes.length;
    try {
      done(null, parseData(bytes));
    } catch (error) {
      done(error as Error);
    }
  });
  scope.setErrorHandler<Error & { code?: string }>((error) => {
    if (error.code !== "FST_ERR_CTP_BODY_TOO_LARGE") throw error;
    throw new ApiError("payload_too_large", "The request body is larger than 1 MiB.", { cause: error });
  });
}

/** An object of JSON. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
