import { MAX_TAGS, Tags } from "#events/documentInput.ts";
import { ApiError } from "../base/errors.ts";
import type { Field } from "./multipartForm.ts";

const parseArray = (text: string): unknown[] | undefined => {
  if (!text.startsWith("[")) return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
};

const readValues = ({ value }: Field): unknown[] => {
  if (Array.isArray(value)) return value;
  return typeof value === "string" ? (parseArray(value.trim()) ?? (value.trim() === "" ? [] : [value])) : [value];
};

/** Reads the tags of a form: one or more `tags` fields, each a tag or a JSON array of tags. Throws a 400 with `param: tags`. */
export function readTags(fields: Field[]): string[] {
  const sent = fields.filter(({ name }) => name === "tags");
  const refuse = (why: string) => new ApiError(null, `tags: ${why}.`, { param: "tags" });
  if (sent.some(({ truncated }) => truncated)) throw refuse("is too long");
  const tags: unknown[] = [];
  for (const field of sent) {
    // a form has room for two million
    if (tags.length > MAX_TAGS) break;
    tags.push(...readValues(field));
  }
  const parsed = Tags.safeParse(tags);
  if (!parsed.success) throw refuse(parsed.error.issues[0]!.message);
  return parsed.data;
}
