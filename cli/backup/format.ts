import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { countBlobs } from "#infra/copyBlobs.ts";
import { explainError } from "../explainError.ts";
import { CliError } from "../cliError.ts";

/* A backup is a folder with one compressed file of JSON lines per table, the blobs, and the manifest, which is written last. */

const Manifest = z.object({
  format: z.literal(1),
  created_at: z.iso.datetime(),
  /** The last position of the log in the backup, with the hash of its chain. */
  tip: z.object({ position: z.int(), hash: z.string() }),
  migrations: z.array(z.string()).min(1),
  tables: z.array(z.string()),
  blobs: z.int(),
});
export type Manifest = z.infer<typeof Manifest>;

export const manifestFile = (folder: string): string => join(folder, "manifest.json");
export const tableFile = (folder: string, table: string): string => join(folder, "tables", `${table}.jsonl.gz`);
export const blobsFolder = (folder: string): string => join(folder, "blobs");

async function requireEmpty(folder: string): Promise<void> {
  if (!existsSync(folder) || (await readdir(folder)).length === 0) return;
  if (existsSync(join(folder, "tables")) && !existsSync(manifestFile(folder)))
    throw new CliError(`${folder} has a backup that was interrupted`, "remove the folder, or name a new one");
  throw new CliError(`${folder} is not empty`, "name a new folder");
}

/**
 * Runs the work that writes a backup into an empty folder. If it fails, removes what it wrote, because a part of a backup would
 * keep the data keys of data that is erased later. Throws CliError if the folder is not empty.
 */
export async function fillFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  await requireEmpty(folder);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    return await work();
  } catch (error) {
    const written = [join(folder, "tables"), blobsFolder(folder), manifestFile(folder)];
    for (const path of written) await rm(path, { recursive: true, force: true });
    throw error;
  }
}

/** Throws CliError. */
export async function readManifest(folder: string): Promise<Manifest> {
  try {
    return Manifest.parse(JSON.parse(await readFile(manifestFile(folder), "utf8")));
  } catch (cause) {
    const what = `${folder} is not a complete backup (${explainError(cause)})`;
    throw new CliError(what, "name a folder in which svc backup has finished", { cause });
  }
}

/** Refuses a backup without all of its blobs, because the service could not read the restored files. Throws CliError. */
export async function requireBlobs(folder: string, { blobs }: Pick<Manifest, "blobs">): Promise<void> {
  const found = await countBlobs(blobsFolder(folder));
  if (found >= blobs) return;
  const what = `${blobsFolder(folder)} has ${found} of the ${blobs} blobs of the backup`;
  throw new CliError(
    what,
    `copy the whole backup here again. To restore without the missing ones, set blobs in its manifest.json to ${found}`,
  );
}

/** Refuses a missing blobs folder, which every start of the service creates: the backup would have no blobs. Throws CliError. */
export function requireBlobsFolder(blobs: string): void {
  if (existsSync(blobs)) return;
  throw new CliError(`${blobs} does not exist`, "set DATA_DIR to the folder that the service uses");
}
