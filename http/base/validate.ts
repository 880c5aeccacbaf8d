import type { FastifySchemaCompiler } from "fastify";
import type { z } from "zod";
import type { ErrorCode } from "#events/errorCodes.ts";
import { ApiError } from "./errors.ts";
import { explainIssue } from "./explainIssue.ts";

/** Error codes of fields that have one in the spec, by the field's path and optionally by the message. */
export type FieldCodes = [path: RegExp, code: ErrorCode, message?: RegExp][];

/** `messages[0].content` for ["messages", 0, "content"]. */
export const formatPath = (path: PropertyKey[]): string =>
  path.reduce<string>(
    (text, key) => (typeof key === "number" ? `${text}[${key}]` : text ? `${text}.${String(key)}` : String(key)),
    "",
  );

const WHOLE: Record<string, string> = {
  body: "The request body",
  querystring: "The query",
  params: "The path",
  headers: "The headers",
};

/** The reason in words for the sender, who sees a repeated parameter of a query, not a list. */
const reasonOf = ({ code, message }: z.core.$ZodIssue, part: string): string =>
  part === "querystring" && code === "invalid_type" && message === "must be a string" ? "must be given once" : message;

function validationError(error: z.ZodError, part: string, codes: FieldCodes): ApiError {
  const issue = error.issues[0]!;
  // for an unknown field of a strict object, name the field rather than the object
  const unknown = issue.code === "unrecognized_keys" ? issue.keys[0] : undefined;
  const param = formatPath(unknown === undefined ? issue.path : [...issue.path, unknown]);
  const reason = unknown === undefined ? reasonOf(issue, part) : "there is no such field";
  const message = `${param || WHOLE[part] || part}: ${reason}.`.replace(/\.\.$/, ".");
  const code = codes.find(([path, , about]) => path.test(param) && (about?.test(message) ?? true))?.[1] ?? null;
  return new ApiError(code, message, { param: param || null });
}

/**
 * Only the first issue is reported: half a million wrong elements would produce as many issues, a gigabyte in total. zod supports
 * this option, but does not type it here.
 */
const FIRST_ISSUE = { abortEarly: true, error: explainIssue } as object;

/**
 * Validates a value within a body that the route's schema does not check. Throws the error from `refuse`, which gets the path in
 * the value and the reason.
 */
export function readValue<T>(
  schema: z.ZodType<T>,
  value: unknown,
  refuse: (place: string, reason: string) => ApiError,
): T {
  const parsed = schema.safeParse(value, FIRST_ISSUE);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  throw refuse(formatPath(path).replace(/^(?=[^[])/, "."), message);
}

/** Validates with a route's zod schemas. Values are not coerced, and unknown fields are dropped. */
export const validator =
  (codes: FieldCodes = []): FastifySchemaCompiler<any> =>
  ({ schema, httpPart }: { schema: z.ZodType; httpPart?: string }) =>
  (data: unknown) => {
    const parsed = schema.safeParse(data, FIRST_ISSUE);
    return parsed.success
      ? { value: parsed.data }
      : { error: validationError(parsed.error, httpPart ?? "body", codes) };
  };

/** How a server validates and serializes. Given to its constructor, which would load Fastify's own compilers otherwise. */
export const compilers = {
  // Fastify has types only for Ajv's schemas
  buildValidator: () => validator() as never,
  // response schemas only describe the API, answers are not checked against them
  buildSerializer: () => () => JSON.stringify,
};
