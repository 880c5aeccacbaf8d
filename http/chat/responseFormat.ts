import type { ResponseFormat } from "#events/prompt.ts";
import { ApiError } from "../base/errors.ts";
import { findSchemaFault } from "../turns/schemaLimits.ts";
import type { CompletionRequest } from "./schema.ts";

/** Limits the size and cost of a JSON schema. Throws 400 `invalid_response_format`. */
function checkSchema(schema: Record<string, unknown>): void {
  const fault = findSchemaFault(schema);
  const param = "response_format.json_schema.schema";
  if (fault) throw new ApiError("invalid_response_format", `${param} ${fault}`, { param });
}

/** Reads the response format of a request; the default is text. Throws 400 `invalid_response_format`. */
export function readResponseFormat(sent: CompletionRequest["response_format"]): ResponseFormat {
  if (!sent || sent.type === "text") return { type: "text" };
  if (sent.type === "json_object") return { type: "json_object" };
  const { description, ...format } = sent.json_schema;
  checkSchema(format.schema);
  return { type: "json_schema", json_schema: { ...format, ...(typeof description === "string" && { description }) } };
}
