import { ApiError } from "../base/errors.ts";
import { findSchemaFault } from "../turns/schemaLimits.ts";

/** Limits the size of a JSON schema. Throws 400 `invalid_response_format`. */
export function checkSchema(schema: Record<string, unknown>): void {
  const fault = findSchemaFault(schema);
  const param = "response_format.json_schema.schema";
  if (fault) throw new ApiError("invalid_response_format", `${param} ${fault}`, { param });
}
