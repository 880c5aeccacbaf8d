import { z } from "zod";
import { GROUP_NAME } from "#events/group.ts";
import { Role } from "#events/user.ts";
import { ApiError } from "../base/errors.ts";
import type { Field } from "./multipartForm.ts";

const MAX_READERS = 100;
const MAX_USER_LENGTH = 512;

const Reader = z.union(
  [
    z.strictObject({ person: z.uuid().toLowerCase().describe("Id of a member.") }),
    z.strictObject({ group: z.string().toLowerCase().regex(GROUP_NAME) }),
    z.strictObject({ role: Role }),
    z.strictObject({
      external_user: z.string().min(1).max(MAX_USER_LENGTH).describe("The `user` that requests with an API key name."),
    }),
  ],
  "must be {person: id}, {group: name}, {role: name} or {external_user: text}",
);

/** Who may read a document. */
export const Readers = z
  .array(Reader, "must be an array of readers, or null")
  .max(MAX_READERS, `must have ${MAX_READERS} readers at most`)
  .nullable()
  .describe("Who may read the document, at most 100; null: everybody who may read the collection.");
export type Readers = z.infer<typeof Readers>;

function parse(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

/** The readers of a form: one field with a JSON array; undefined without one. Throws a 400 with `param: readers`. */
export function readReaders(fields: Field[]): Readers | undefined {
  const sent = fields.filter(({ name }) => name === "readers");
  const refuse = (why: string) => new ApiError(null, `readers: ${why}.`, { param: "readers" });
  if (sent.length === 0) return undefined;
  if (sent.length > 1) throw refuse("must be one field with a JSON array");
  if (sent[0]!.truncated) throw refuse("is too long");
  const parsed = Readers.safeParse(parse(sent[0]!.value));
  if (!parsed.success) throw refuse(parsed.error.issues[0]!.message);
  return parsed.data;
}
