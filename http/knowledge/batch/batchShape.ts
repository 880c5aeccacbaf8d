import { z } from "zod";
import { MAX_METADATA_KEYS, MAX_TAGS, Tags } from "#events/documentInput.ts";
import { SentMetadata } from "../../upload/metadata.ts";
import { Readers } from "../../upload/readers.ts";
import { DOCUMENT_STATUSES } from "#projections/documents/query.ts";
import { PushTextBody } from "../documentShape.ts";
import { Link, MAX_LINKS } from "./storeLink.ts";

/** Maximum entries per request. Each takes about 20 ms. */
export const MAX_ENTRIES = 500;
/** Maximum bytes of all files of a form. */
export const MAX_FORM_BYTES = 500_000_000;

const collection = z
  .string("must be a string")
  .min(1, "must not be empty")
  .describe("Slug or id of the collection that all entries go to.");

/** What is common to all entries. */
const common = { tags: Tags.nullish(), metadata: SentMetadata.nullish(), readers: Readers.optional() };

const entries = <T extends z.ZodType>(entry: T) =>
  z
    .array(entry, "must be an array of documents")
    .min(1, "must have 1 item at least")
    .max(MAX_ENTRIES, `must have ${MAX_ENTRIES} items at most`);

/** The entries of a JSON body are checked one by one, so that an invalid one does not affect the others. */
export const JsonBatch = z.object(
  { collection, ...common, documents: entries(z.unknown()) },
  "must be an object with a collection and documents",
);
export type JsonBatch = z.infer<typeof JsonBatch>;

/** For the API description only. */
export const BatchBody = z.object({
  collection,
  documents: entries(z.union([PushTextBody, Link]))
    .optional()
    .describe(`In JSON: texts and addresses, at most ${MAX_ENTRIES}, of which ${MAX_LINKS} addresses.`),
  ...common,
  tags: common.tags.describe(
    `For entries without tags of their own. In a form: a tag or a JSON array, at most ${MAX_TAGS}.`,
  ),
  metadata: common.metadata.describe(
    `For entries without metadata of their own. In a form: a JSON object with at most ${MAX_METADATA_KEYS} keys.`,
  ),
  file: z
    .string()
    .meta({ format: "binary" })
    .optional()
    .describe(`In a form, after all other fields: a file. May be repeated, ${MAX_ENTRIES} times at most.`),
  archive: z
    .string()
    .meta({ format: "binary" })
    .optional()
    .describe("In a form, after all other fields: a ZIP archive, of which each file is an entry."),
});

const ApiErrorShape = z.object({
  message: z.string(),
  type: z.string(),
  param: z.string().nullable().optional(),
  code: z.string().nullable(),
});

export const BatchResult = z
  .object({
    data: z
      .array(
        z.object({
          index: z.int().describe("0, 1, 2 … in the order sent."),
          name: z.string().describe("The name of the file, its path in the archive, or the name of the text."),
          result: z
            .enum(["accepted", "unchanged", "failed"])
            .describe("`unchanged`: the collection has it already, as when a single upload is answered with 200."),
          id: z.string().optional().describe("The document."),
          status: z.enum(DOCUMENT_STATUSES).optional(),
          error: ApiErrorShape.optional(),
        }),
      )
      .describe("A result for each entry, in the order sent."),
    accepted: z.int(),
    unchanged: z.int(),
    failed: z.int(),
    complete: z
      .boolean()
      .describe("False if the rest could not be read, as in a damaged archive. The last result says why."),
  })
  .meta({ title: "BatchResult" });
export type BatchResult = z.infer<typeof BatchResult>;
