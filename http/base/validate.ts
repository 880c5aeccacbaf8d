import type { FastifySchemaCompiler } from "fastify";
import type { z } from "zod";
import type { ErrorCode } from "#events/errorCodes.ts";
import { ApiError } from "./errors.ts";
import { explainIssue } from "./explainIssue.ts";

/** Error codes of fields that have one in the spec, by the path of the field and, where given, by the message. */
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

function validationError(error: z.ZodError, part: string, codes: FieldCodes): ApiError {
  const issue = error.issues[0]!;
  // an unknown field of a strict object: name the field, not the object
  const unknown = issue.code === "unrecognized_keys" ? issue.keys[0] : undefined;
  const param = formatPath(unknown === undefined ? issue.path : [...issue.path, unknown]);
  const reason = unknown === undefined ? issue.message : "there is no such field";
  const message = `${param || WHOLE[part] || part}: ${reason}.`.replace(/\.\.$/, ".");
  const code = codes.find(([path, , about]) => path.test(param) && (about?.test(message) ?? true))?.[1] ?? null;
  return new ApiError(code, message, { param: param || null });
}

/** Only the first issue is shown: half a million wrong elements would make as many, in a gigabyte. zod has it for `validate`, untyped here. */
const FIRST_ISSUE = { abortEarly: true, error: explainIssue } as object;

/** A value in a body, validated once it is known to be read. Throws the error of `refuse`, which gets the place in the value and the reason. */
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

/** Validates with the zod schemas of a route. Nothing is coerced, and unknown fields are dropped. */
export const validator =
  (codes: FieldCodes = []): FastifySchemaCompiler<any> =>
  ({ schema, httpPart }: { schema: z.ZodType; httpPart?: string }) =>
  (data: unknown) => {
    const parsed = schema.safeParse(data, FIRST_ISSUE);
    return parsed.success
      ? { value: parsed.data }
      : { error: validationError(parsed.error, httpPart ?? "body", codes) };
  };
