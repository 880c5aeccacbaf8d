import { z } from "zod";
import { defineCommand, defineEvent, type CommandsIn, type EventsIn } from "./language.ts";
import { streamName } from "./ids.ts";

const Public = z.object({
  file_id: z.uuid(),
  bytes: z.int().nonnegative(),
  mime_type: z.string(),
  /** Key of the blob that holds the bytes, sealed with the file's data key. */
  blob: z.string(),
  /** The owner: a hash of (principal, user value), see scope.ts. */
  scope: z.string(),
  /** The mark of the upload's user, for budgets of each user; absent: none, or uploaded before there were such limits. */
  user_mark: z.string().optional(),
  /** The project of the run whose step stored it, for the project's budgets; absent for everything else. */
  project_id: z.uuid().optional(),
});
const Personal = z.object({ filename: z.string(), purpose: z.string(), sha256: z.string() });

export const UploadFile = defineCommand("UploadFile", "file", Public.extend(Personal.shape));
export const DeleteFile = defineCommand("DeleteFile", "file", z.object({ file_id: z.uuid(), scope: z.string() }));

export const FileUploaded = defineEvent("FileUploaded", {
  public: Public,
  personal: Personal,
  thing: (data) => streamName("file", data.file_id),
  opens: true,
});
export const FileDeleted = defineEvent("FileDeleted", { public: z.object({ file_id: z.uuid() }) });

export type FileCommand = CommandsIn<typeof import("./file.ts")>;
export type FileEvent = EventsIn<typeof import("./file.ts")>;
