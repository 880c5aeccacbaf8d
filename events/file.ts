import { z } from "zod";
import { defineCommand, defineEvent, type CommandFrom, type EventFrom } from "./language.ts";
import { streamOf } from "./ids.ts";

const Public = z.object({
  file_id: z.uuid(),
  bytes: z.int().nonnegative(),
  mime_type: z.string(),
  /** Key of the blob that holds the bytes, sealed with the file's data key. */
  blob: z.string(),
  /** Hash of (principal, user value): whom it belongs to. */
  scope: z.string(),
});
const Personal = z.object({ filename: z.string(), purpose: z.string(), sha256: z.string() });

export const UploadFile = defineCommand("UploadFile", "file", Public.extend(Personal.shape));
export const DeleteFile = defineCommand("DeleteFile", "file", z.object({ file_id: z.uuid(), scope: z.string() }));

export const FileUploaded = defineEvent("FileUploaded", {
  public: Public,
  personal: Personal,
  thing: (data) => streamOf("file", data.file_id),
  opens: true,
});
export const FileDeleted = defineEvent("FileDeleted", { public: z.object({ file_id: z.uuid() }) });

export type FileCommand = CommandFrom<typeof UploadFile> | CommandFrom<typeof DeleteFile>;
export type FileEvent = EventFrom<typeof FileUploaded> | EventFrom<typeof FileDeleted>;
