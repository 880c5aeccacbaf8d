import { randomUUID } from "node:crypto";
import { mkdir, open, opendir, readFile, rename, rm, rmdir, stat, type FileHandle } from "node:fs/promises";
import { dirname, join, normalize, relative, sep } from "node:path";
import type { Blobs } from "#events/ports.ts";
import { failpoint } from "./failpoint.ts";

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Makes a folder that outlives a power cut: every new level is written to its parent. */
async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true });
  if (first === undefined) return;
  for (let made = path; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made));
}

const isError = (error: unknown, ...codes: string[]): boolean =>
  codes.includes((error as NodeJS.ErrnoException).code ?? "");

const TRIES = 20;
/** A new file; its folder is made again where it was taken away empty at this moment. */
async function create(path: string): Promise<FileHandle> {
  for (let tries = 1; ; tries++)
    try {
      await makeFolder(dirname(path));
      return await open(path, "w", 0o600);
    } catch (error) {
      if (!isError(error, "ENOENT") || tries === TRIES) throw error;
    }
}

async function removeIfEmpty(folder: string): Promise<void> {
  try {
    await rmdir(folder);
  } catch (error) {
    if (!isError(error, "ENOTEMPTY", "EEXIST", "ENOENT")) throw error;
  }
}

async function* filesBelow(directory: string): AsyncIterable<{ path: string; mtimeMs: number }> {
  for await (const entry of await opendir(directory, { recursive: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    // a file may go while we look
    const stats = await stat(path).catch(() => undefined);
    if (stats) yield { path, mtimeMs: stats.mtimeMs };
  }
}

/** Blobs as files below a directory. A file is visible under its key only when it is whole and on disk. */
export function openBlobs(directory: string): Blobs {
  const pathOf = (key: string): string => {
    const path = normalize(join(directory, key));
    if (!path.startsWith(normalize(directory) + sep)) throw new Error("a blob key leaves the blobs' folder");
    return path;
  };

  return {
    async put(folder, sealed) {
      const key = `${folder}/${randomUUID()}`;
      const path = pathOf(key);
      const file = await create(`${path}.part`);
      try {
        await file.writeFile(sealed);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(`${path}.part`, path);
      failpoint("after-blob-rename");
      await syncFolder(dirname(path));
      return key;
    },

    async get(key) {
      try {
        return await readFile(pathOf(key));
      } catch (error) {
        if (isError(error, "ENOENT")) return undefined;
        throw error;
      }
    },

    async remove(key) {
      await rm(pathOf(key), { force: true });
      await removeIfEmpty(dirname(pathOf(key)));
    },

    async removeAll(folder) {
      await rm(pathOf(folder), { recursive: true, force: true });
    },

    async *foldersOlderThan(age_ms) {
      const before = Date.now() - age_ms;
      const newest = new Map<string, number>();
      for await (const { path, mtimeMs } of filesBelow(directory)) {
        const folder = relative(directory, dirname(path));
        newest.set(folder, Math.max(newest.get(folder) ?? 0, mtimeMs));
      }
      for (const [folder, at] of newest) if (at < before) yield folder;
    },
  };
}
