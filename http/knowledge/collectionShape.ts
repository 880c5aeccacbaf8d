import { z } from "zod";
import type { CollectionRow } from "#projections/collections/query.ts";
import type { FieldCodes } from "../base/validate.ts";

const MAX_NAME_LENGTH = 120;
const MAX_DESCRIPTION_LENGTH = 2_000;

const required = "is required";
const name = z
  .string({ error: ({ input }) => (input === undefined || input === null ? required : "must be a string") })
  .trim()
  .min(1, required)
  .refine((text) => Array.from(text).length <= MAX_NAME_LENGTH, `must have ${MAX_NAME_LENGTH} characters at most`);
const description = z
  .string("must be a string")
  .max(MAX_DESCRIPTION_LENGTH, `must have ${MAX_DESCRIPTION_LENGTH} characters at most`)
  .nullish()
  .transform((text) => text ?? undefined);

export const CreateCollectionBody = z.object({ name, description }, "must be an object with a name");
const newName = name.nullish().transform((text) => text ?? undefined);
export const ChangeCollectionBody = z.object({ name: newName, description }, "must be an object");

export const CREATE_CODES: FieldCodes = [
  [/^(name)?$/, "missing_name", /(is required|with a name)\.$/],
  [/^name$/, "invalid_name"],
];
export const CHANGE_CODES: FieldCodes = [[/^name$/, "invalid_name"]];

/** Collection (spec: Knowledge resources). */
export const Collection = z
  .object({
    id: z.string(),
    slug: z.string().describe("Does not change when the collection is renamed."),
    name: z.string(),
    description: z.string(),
    documents: z
      .object({
        ready: z.int(),
        pending: z.int().describe("Waiting to be read, or being read."),
        failed: z.int(),
        total: z.int(),
        bytes: z.int().describe("Total size of ready documents."),
      })
      .describe("From a summary that may be a few seconds old."),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ title: "Collection" });

export const presentCollection = ({ created_at, updated_at, ...row }: CollectionRow): z.infer<typeof Collection> => ({
  ...row,
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});
