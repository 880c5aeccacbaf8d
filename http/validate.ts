import type { FastifySchemaCompiler } from "fastify";
import type { z } from "zod";
import { ApiError } from "./errors.ts";

/** Codes that the spec gives to certain fields, by what their path looks like, and what is said of them. */
export type FieldCodes = [path: RegExp, code: string, message?: RegExp][];

/** `messages[0].content` for ["messages", 0, "content"]. */
export const pathOf = (path: PropertyKey[]): string =>
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

function refusal(error: z.ZodError, part: string, codes: FieldCodes): ApiError {
  const issue = error.issues[0]!;
  // where unknown fields are not dropped, it is the field that is named, and not what it stands in
  const unknown = issue.code === "unrecognized_keys" ? issue.keys[0] : undefined;
  const param = pathOf(unknown === undefined ? issue.path : [...issue.path, unknown]);
  const said = unknown === undefined ? issue.message : "there is no such field";
  const message = `${param || WHOLE[part] || part}: ${said}.`.replace(/\.\.$/, ".");
  const code = codes.find(([path, , about]) => path.test(param) && (about?.test(message) ?? true))?.[1] ?? null;
  return new ApiError(code, message, { param: param || null });
}

/** Parses with the route's zod schemas; nothing is coerced, unknown fields are dropped. */
export const validator =
  (codes: FieldCodes = []): FastifySchemaCompiler<any> =>
  ({ schema, httpPart }: { schema: z.ZodType; httpPart?: string }) =>
  (data: unknown) => {
    const parsed = schema.safeParse(data);
    return parsed.success ? { value: parsed.data } : { error: refusal(parsed.error, httpPart ?? "body", codes) };
  };
