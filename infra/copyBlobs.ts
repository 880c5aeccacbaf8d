import { constants, existsSync } from "node:fs";
import { copyFile, mkdir, open, opendir } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { PART } from "./blobs.ts";

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

/** Copies all complete blobs, to the disk, while others are written and removed. Answers with how many. */
export async function copyBlobs(from: string, to: string): Promise<number> {
  let count = 0;
  await mkdir(to, { recursive: true, mode: 0o700 });
  if (!existsSync(from)) return 0;
  for await (const entry of await opendir(from, { recursive: true })) {
    if (!entry.isFile() || entry.name.endsWith(PART)) continue;
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
