import { z } from "zod";
import { ApiError } from "../errors.ts";
import type { Field } from "./form.ts";

export const MOST_TAGS = 100;
const LONGEST_TAG = 200;

const Tag = z
  .string({ error: "must be a string" })
  .trim()
  .min(1, "must not be empty")
  .max(LONGEST_TAG, `must have ${LONGEST_TAG} characters at most`);

/** Tags as they are kept: each once, in the order sent. */
export const Tags = z
  .array(Tag, { error: "must be an array of strings" })
  .max(MOST_TAGS, `must have ${MOST_TAGS} tags at most`)
  .transform((tags) => [...new Set(tags)]);

const jsonArray = (text: string): unknown[] | undefined => {
  if (!text.startsWith("[")) return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
};

const valuesOf = ({ value }: Field): unknown[] => {
  if (Array.isArray(value)) return value;
  return typeof value === "string" ? (jsonArray(value.trim()) ?? (value.trim() === "" ? [] : [value])) : [value];
};

/** The tags of a form: `tags` once or more, each a tag or a JSON array of them. Throws a 400 that names the field. */
export function tagsOf(fields: Field[]): string[] {
  const sent = fields.filter(({ name }) => name === "tags");
  const refuse = (why: string) => new ApiError(null, `tags: ${why}.`, { param: "tags" });
  if (sent.some(({ truncated }) => truncated)) throw refuse("is too long");
  const parsed = Tags.safeParse(sent.flatMap(valuesOf));
  if (!parsed.success) throw refuse(parsed.error.issues[0]!.message);
  return parsed.data;
}
