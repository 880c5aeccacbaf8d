import { z } from "zod";
import { GROUP_NAME } from "#events/group.ts";
import { Role } from "#events/user.ts";
import { readJsonField } from "./jsonField.ts";
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

/** The readers of a form; undefined without any. Throws a 400 with `param: readers`. */
export const readReaders = (fields: Field[]): Readers | undefined =>
  readJsonField(fields, "readers", "a JSON array", Readers);
