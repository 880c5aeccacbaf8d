import { jsonWithin } from "#events/largeJson.ts";
import type { ResponseFormat } from "#events/prompt.ts";
import { ApiError } from "../base/errors.ts";
import { findSchemaFault, openPatternBudget } from "../turns/schemaLimits.ts";
import type { CompletionRequest } from "./schema.ts";

/** Maximum JSON of a format. It is written in one piece for each request to the provider. */
const MAX_CHARACTERS = 256 * 1024;

const invalid = (param: string, fault: string) =>
  new ApiError("invalid_response_format", `${param} ${fault}`, { param });

/** Reads the response format of a request; the default is text. Throws 400 `invalid_response_format`. */
export function readResponseFormat(sent: CompletionRequest["response_format"]): ResponseFormat {
  if (!sent || sent.type === "text") return { type: "text" };
  if (sent.type === "json_object") return { type: "json_object" };
  const { description, ...format } = sent.json_schema;
  const fault = findSchemaFault(format.schema, openPatternBudget());
  if (fault) throw invalid("response_format.json_schema.schema", fault);
  if (jsonWithin(sent, MAX_CHARACTERS) === undefined)
    throw invalid("response_format", `may have at most ${MAX_CHARACTERS} characters of JSON.`);
  return { type: "json_schema", json_schema: { ...format, ...(typeof description === "string" && { description }) } };
}
