import { STATUS_CODES } from "node:http";
import { errorBody, internalError } from "../base/errors.ts";
import { ERROR_EXAMPLES } from "./errorExamples.ts";

/* Describes the errors of each operation, with bodies recorded from a running service. */

type Json = Record<string, any>;
const SCHEMA = { $ref: "#/components/schemas/Error" };
const jsonOf = (examples: Json) => ({ "application/json": { schema: SCHEMA, examples } });
const refTo = (name: string) => ({ $ref: `#/components/examples/${name}` });

/** Error bodies for the components of the API description, where operations refer to them. */
export const errorExamples = (): Json =>
  Object.fromEntries(Object.entries(ERROR_EXAMPLES.examples).map(([name, value]) => [name, { value }]));

/** The `default` answer, for errors that an operation does not list. `headers`: those of every answer. */
export const anyOtherError = (headers: Json): Json => ({
  description:
    "Any other answer: [every code and what to do about it](/docs/reference/errors). 408, 429, 500 and 503 may answer every request.",
  headers,
  content: jsonOf({ status_500: { value: errorBody(internalError(undefined)) } }),
});

/** The error answers of an operation, by status. */
export function describeErrors(operation: string, headers: Json): Json {
  const statuses = Object.entries(ERROR_EXAMPLES.operations[operation] ?? {}).map(([status, names]) => {
    const content = jsonOf(Object.fromEntries(names.map((name) => [name.replace("error_", ""), refTo(name)])));
    return [status, { description: STATUS_CODES[status], headers, content }];
  });
  return { ...Object.fromEntries(statuses), default: { $ref: "#/components/responses/Error" } };
}
