import { open, rm, type FileHandle } from "node:fs/promises";
import { isError } from "./folders.ts";

export interface DiskProbe {
  /**
   * Throws the disk's error if it has failed: earlier syncs may then have lost their changes, although they succeeded. Does nothing if
   * the folder of the probe does not exist.
   */
  verify(): Promise<void>;
}

async function openUnnamed(path: string): Promise<FileHandle> {
  // a failing disk may have kept the name of the file before
  const file = await open(path, "w", 0o600);
  try {
    await rm(path);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * Shows whether a disk still keeps changes. When the journal of ext4 fails, syncs succeed for some milliseconds although their changes
 * are lost (Linux 6.18). New changes fail from the same moment, so one that succeeds proves all syncs before it. `path`: for a file
 * without content, which is removed at once.
 */
export function createDiskProbe(path: string): DiskProbe {
  let file: Promise<FileHandle> | undefined;
  // each change needs another size than the one before
  let size = 0;
  return {
    async verify() {
      const opened = (file ??= openUnnamed(path));
      try {
        await (await opened).truncate(++size);
      } catch (error) {
        // the disk may be mounted again
        if (file === opened) {
          file = undefined;
          void opened.then((handle) => handle.close()).catch(() => {});
        }
        if (!isError(error, "ENOENT")) throw error;
      }
    },
  };
}
