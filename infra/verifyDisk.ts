import { open, unlink } from "node:fs/promises";
import { isError } from "./folders.ts";

/**
 * Throws the disk's error if it no longer keeps changes: earlier syncs may then have lost theirs, although they succeeded. When the
 * journal of ext4 fails, syncs succeed for some milliseconds (Linux 6.18). New changes fail from the same moment, so one that succeeds
 * proves all syncs before it. Leaves no file open, because that would prevent unmounting.
 *
 * `path`: of a file that does not exist. It is created and removed. Does nothing if its folder does not exist.
 */
export async function verifyDisk(path: string): Promise<void> {
  try {
    const file = await open(path, "wx", 0o600);
    await file.close();
  } catch (error) {
    if (isError(error, "ENOENT")) return;
    throw error;
  }
  // not rm, which looks at the file first
  await unlink(path);
}
