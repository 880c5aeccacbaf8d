import type { z } from "zod";
import { ApiError } from "../base/errors.ts";
import type { Field } from "./multipartForm.ts";

function parse(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

/**
 * Reads a form field that contains JSON; undefined if it is missing. `what` names the expected value in the message. Throws a 400
 * whose `param` is `name`.
 */
export function readJsonField<T>(fields: Field[], name: string, what: string, schema: z.ZodType<T>): T | undefined {
  const sent = fields.filter((field) => field.name === name);
  const refuse = (why: string) => new ApiError(null, `${name}: ${why}.`, { param: name });
  if (sent.length === 0) return undefined;
  if (sent.length > 1) throw refuse(`must be one field with ${what}`);
  if (sent[0]!.truncated) throw refuse("is too long");
  const parsed = schema.safeParse(parse(sent[0]!.value));
  if (!parsed.success) throw refuse(parsed.error.issues[0]!.message);
  return parsed.data;
}
