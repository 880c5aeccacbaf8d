import { z } from "zod";
import { DocumentText, ExternalId, MetadataInput, Tags, TextFormat } from "#events/documentInput.ts";
import { DocumentReader } from "#events/documentDetails.ts";
import { streamName } from "#events/ids.ts";
import { DOCUMENT_STATUSES, type DocumentRow } from "#projections/documents/query.ts";
import type { Http } from "../base/deps.ts";
import { cleanFilename } from "../base/filename.ts";
import { Progress } from "../base/readingProgress.ts";
import { SentMetadata } from "../upload/metadata.ts";
import { Readers } from "../upload/readers.ts";
import type { FieldCodes } from "../base/validate.ts";
import { presentWarnings, Warnings } from "../base/warningShape.ts";

/** Document (spec: Knowledge resources). Fields without a value are left out. */
export const Document = z
  .object({
    id: z.string(),
    collection_id: z.string(),
    name: z.string(),
    mime_type: z.string(),
    size_bytes: z.int(),
    status: z.enum(DOCUMENT_STATUSES),
    error: z.string().optional().describe("The reason of a failure."),
    progress: Progress.optional(),
    page_count: z.int().optional().describe("For PDF and PowerPoint."),
    chunk_count: z.int().describe("Number of passages."),
    warnings: Warnings.optional(),
    tags: z.array(z.string()),
    metadata: MetadataInput.optional(),
    readers: z
      .array(DocumentReader)
      .optional()
      .describe("Who may read it; absent: everybody who may read the collection."),
    source: z.enum(["api", "upload", "connector"]),
    external_id: z.string().optional().describe("The caller's own id of a pushed text."),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    indexed_at: z.iso.datetime().optional().describe("When search began to find its present text."),
  })
  .meta({ title: "Document" });

/** The fields of a document that clients see. */
export type PublicDocument = Omit<
  DocumentRow,
  | "organization_id"
  | "collection"
  | "original"
  | "blob"
  | "live_generation"
  | "text_blob"
  | "passages_blob"
  | "wrapped_key"
>;

export const presentDocument = (row: PublicDocument): z.infer<typeof Document> => ({
  id: row.id,
  collection_id: row.collection_id,
  name: row.name,
  mime_type: row.mime_type,
  size_bytes: row.size_bytes,
  status: row.status,
  ...(row.status === "failed" && { error: row.error ?? "The file could not be read." }),
  ...(row.page_count !== null && { page_count: row.page_count }),
  chunk_count: row.chunk_count,
  ...presentWarnings(row.warnings),
  tags: row.tags,
  ...(Object.keys(row.metadata).length > 0 && { metadata: row.metadata }),
  ...(row.readers !== null && { readers: row.readers }),
  source: row.source,
  ...(row.external_id !== null && { external_id: row.external_id }),
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
  ...(row.indexed_at !== null && { indexed_at: row.indexed_at.toISOString() }),
});

/** Presents documents that may be read at this moment, with the progress of that. */
export const presentReading =
  ({ readingProgress }: Pick<Http, "readingProgress">) =>
  (row: PublicDocument): z.infer<typeof Document> => {
    const progress = row.status === "processing" && readingProgress(streamName("document", row.id));
    return { ...presentDocument(row), ...(progress && { progress }) };
  };

/** The end user that a request with an API key reads for. */
export const UserQuery = z.object({
  user: z
    .string()
    .optional()
    .describe("With an API key: the end user to read for, who may read only what names them or nobody."),
});

/** The version of the text, as named by a citation. */
export const VersionQuery = UserQuery.extend({
  version: z
    .string()
    .regex(/^[1-9]\d{0,8}$/, "must be a whole number from 1")
    .optional()
    .describe("A version that search named; also after the text was replaced. Default: what search shows now."),
});

/** A display name, cleaned like a filename. */
const name = z
  .string("must be a string")
  .transform(cleanFilename)
  .refine((text) => text !== "", "must not be empty");

export const ChangeDocumentBody = z.object(
  { name: name.optional(), tags: Tags.optional(), metadata: SentMetadata.optional(), readers: Readers.optional() },
  "must be an object",
);
export const CHANGE_CODES: FieldCodes = [[/^name$/, "invalid_name"]];

export const PushTextBody = z.object(
  {
    text: DocumentText,
    name: name.nullish(),
    format: TextFormat.nullish().describe("Default: `markdown`."),
    tags: Tags.nullish(),
    metadata: SentMetadata.nullish(),
    readers: Readers.optional(),
    external_id: ExternalId.nullish().describe("The caller's own id. Pushing the same id again replaces the document."),
  },
  "must be an object with a text",
);
export const PUSH_CODES: FieldCodes = [[/^(text)?$/, "empty_document", /(is required|with a text)\.$/]];
