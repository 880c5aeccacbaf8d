import { z } from "zod";
import { streamName } from "#events/ids.ts";
import type { ExtractionRow } from "#projections/extractions/query.ts";
import type { Http } from "../base/deps.ts";
import { Progress } from "../base/readingProgress.ts";
import { presentWarnings, Warnings } from "../base/warningShape.ts";

export const ExtractionStatus = z.enum(["pending", "processing", "ready", "failed"]);

/** Extraction record (spec). Fields without a value are left out. */
export const Extraction = z
  .object({
    id: z.string(),
    status: ExtractionStatus,
    name: z.string(),
    mime_type: z.string().describe("The detected type; it may differ from the declared one."),
    size_bytes: z.int(),
    progress: Progress.optional(),
    page_count: z.int().optional().describe("For PDF and PowerPoint."),
    chunk_count: z.int().optional().describe("Number of chunks of the text. Nothing is indexed."),
    warnings: Warnings.optional(),
    markdown: z.string().optional().describe("Present when the status is `ready`."),
    error: z.string().optional().describe("The reason of a failure."),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime().describe("From then on the extraction does not exist."),
  })
  .meta({ title: "Extraction" });

export type PublicExtraction = Omit<ExtractionRow, "wrapped_key" | "text_blob"> & { markdown?: string };

export const presentExtraction = (row: PublicExtraction): z.infer<typeof Extraction> => ({
  id: row.id,
  status: row.status,
  name: row.name,
  mime_type: row.mime_type,
  size_bytes: row.size_bytes,
  ...(row.page_count !== null && { page_count: row.page_count }),
  ...(row.chunk_count !== null && { chunk_count: row.chunk_count }),
  ...presentWarnings(row.warnings),
  ...(row.markdown !== undefined && { markdown: row.markdown }),
  ...(row.status === "failed" && { error: row.error ?? "The file could not be read." }),
  created_at: row.created_at.toISOString(),
  expires_at: row.expires_at.toISOString(),
});

/** Presents extractions that may be read at this moment, with the progress of that. */
export const presentReading =
  ({ readingProgress }: Pick<Http, "readingProgress">) =>
  (row: PublicExtraction): z.infer<typeof Extraction> => {
    const progress = row.status === "processing" && readingProgress(streamName("extraction", row.id));
    return { ...presentExtraction(row), ...(progress && { progress }) };
  };
