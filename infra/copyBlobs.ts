import { constants, existsSync, type Dirent } from "node:fs";
import { copyFile, mkdir, open, opendir } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { PARTIAL_SUFFIX } from "./blobs.ts";

const isGone = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "ENOENT";

async function copyToDisk(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await copyFile(from, to, constants.COPYFILE_FICLONE);
  const file = await open(to, "r+");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The complete blobs of a folder; none if the folder does not exist. */
async function* findBlobs(folder: string): AsyncGenerator<Dirent> {
  if (!existsSync(folder)) return;
  for await (const entry of await opendir(folder, { recursive: true }))
    if (entry.isFile() && !entry.name.endsWith(PARTIAL_SUFFIX)) yield entry;
}

/** Counts the complete blobs of a folder. */
export async function countBlobs(folder: string): Promise<number> {
  let count = 0;
  for await (const _ of findBlobs(folder)) count += 1;
  return count;
}

/** Copies all complete blobs durably while others are written and removed. Returns their number. */
export async function copyBlobs(from: string, to: string): Promise<number> {
  let count = 0;
  await mkdir(to, { recursive: true, mode: 0o700 });
  for await (const entry of findBlobs(from)) {
    const path = join(entry.parentPath, entry.name);
    try {
      await copyToDisk(path, join(to, relative(from, path)));
      count += 1;
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }
  return count;
}
