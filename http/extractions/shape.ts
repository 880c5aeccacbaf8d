import { z } from "zod";
import type { ExtractionRow } from "#projections/extractions/query.ts";

/** Extraction record (spec). A field with no value is left out. */
export const Extraction = z.object({
  id: z.string(),
  status: z.enum(["pending", "processing", "ready", "failed"]),
  name: z.string(),
  mime_type: z.string().describe("As detected; may differ from the declared type."),
  size_bytes: z.int(),
  page_count: z.int().optional().describe("Of PDF and PowerPoint."),
  chunk_count: z.int().optional().describe("Pieces of the text; nothing is indexed."),
  markdown: z.string().optional().describe("When it is ready."),
  error: z.string().optional().describe("Why it failed."),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().describe("From then on it does not exist."),
});

export type Shown = Omit<ExtractionRow, "wrapped_key" | "text_blob"> & { markdown?: string };

export const present = (row: Shown): z.infer<typeof Extraction> => ({
  id: row.id,
  status: row.status,
  name: row.name,
  mime_type: row.mime_type,
  size_bytes: row.size_bytes,
  ...(row.page_count !== null && { page_count: row.page_count }),
  ...(row.chunk_count !== null && { chunk_count: row.chunk_count }),
  ...(row.markdown !== undefined && { markdown: row.markdown }),
  ...(row.status === "failed" && { error: row.error ?? "The file could not be read." }),
  created_at: row.created_at.toISOString(),
  expires_at: row.expires_at.toISOString(),
});
