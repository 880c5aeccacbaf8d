import { z } from "zod";
import type { FileRow } from "#projections/files/query.ts";
import { unixSeconds } from "../base/times.ts";

/** The file object (spec: File object). */
export const File = z
  .object({
    id: z.string(),
    object: z.literal("file"),
    bytes: z.int(),
    created_at: z.int().describe("Unix seconds."),
    filename: z.string(),
    purpose: z.string(),
    mime_type: z.string(),
    status: z.literal("processed"),
  })
  .meta({ title: "FileObject" });
export const FileList = z.object({
  object: z.literal("list"),
  data: z.array(File),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.literal(false),
});

export type PresentedFile = Omit<FileRow, "position" | "principal" | "scope" | "blob" | "wrapped_key" | "sha256">;

export const presentFile = (file: PresentedFile): z.infer<typeof File> => ({
  id: file.id,
  object: "file",
  bytes: file.bytes,
  created_at: unixSeconds(file.created_at),
  filename: file.filename,
  purpose: file.purpose,
  mime_type: file.mime_type,
  // without this status clients would poll for 30 minutes
  status: "processed",
});

/** The upload form, for the API description only: `readFileUpload` parses the parts. */
export const UploadForm = z.object({
  file: z.string().meta({ format: "binary" }),
  purpose: z.string().optional().describe("`user_data` by default."),
  user: z.string().optional().describe("End user; isolates the file."),
});
