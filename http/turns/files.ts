import { z } from "zod";
import { isUuid, streamName } from "#events/ids.ts";
import { getFile, type FileRow } from "#projections/files/query.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { findOrWait } from "../base/findById.ts";

/** The answer to DELETE of a file. */
export const DeletedFile = z
  .object({ id: z.string(), object: z.literal("file"), deleted: z.literal(true) })
  .meta({ title: "DeletedFile" });

export const fileNotFound = (param: string | null): ApiError =>
  new ApiError("file_not_found", "There is no such file for this key and user.", { param });

/** Finds a file by its id. A missing one may have been uploaded a moment ago, so this waits for the read model once. */
export async function findFile(
  { db, waitUntilCurrent }: Pick<Http, "db" | "waitUntilCurrent">,
  organization: string,
  scope: string,
  id: string,
): Promise<FileRow | undefined> {
  if (!isUuid(id)) return undefined;
  return findOrWait(
    () => getFile(db, organization, scope, id),
    () => waitUntilCurrent(["files"], streamName("file", id)),
  );
}

/** Reads the bytes of an uploaded file; undefined if they were deleted. */
export const readFile = (
  { vault }: Pick<Http, "vault">,
  { id, wrapped_key, blob }: FileRow,
): Promise<Buffer | undefined> => vault.get({ thing: streamName("file", id), wrapped_key }, blob);
