import { randomUUID } from "node:crypto";
import { constants, link, open, opendir, readFile, rename, rm, stat, utimes, type FileHandle } from "node:fs/promises";
import { dirname, join, normalize, relative, sep } from "node:path";
import { currentTime } from "#events/clock.ts";
import type { Blobs } from "#events/vault.ts";
import { StorageFull, StorageUnavailable } from "#events/ports.ts";
import { removeFile, removeFolder } from "./blobRemoval.ts";
import { verifyDisk } from "./verifyDisk.ts";
import { failpoint } from "./failpoint.ts";
import { isError, makeFolder, syncFolder } from "./folders.ts";
import { createSharedRuns } from "./sharedRuns.ts";

/** Error codes of a disk that is read-only, failing, gone or another user's, and of a process without file handles. */
const UNAVAILABLE = ["EROFS", "EIO", "ESTALE", "ENXIO", "ENODEV", "ETIMEDOUT", "EACCES", "EPERM", "EMFILE", "ENFILE"];

/** A part of an open file that the disk cannot read: that file is damaged, and waiting does not help. */
const isDamaged = (cause: unknown): boolean =>
  isError(cause, "EIO") && (cause as NodeJS.ErrnoException).syscall === "read";

/** Turns errors of the disk into StorageUnavailable, because they are temporary and not the fault of the request. */
async function onDisk<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (isError(cause, "ENOSPC", "EDQUOT")) throw new StorageFull("The disk of the blobs is full", { cause });
    if (isError(cause, ...UNAVAILABLE) && !isDamaged(cause))
      throw new StorageUnavailable("The disk of the blobs cannot be used", { cause });
    throw cause;
  }
}

/** Suffix of an incomplete blob. It stays behind when the process dies. */
export const PARTIAL_SUFFIX = ".part";
const MAX_ATTEMPTS = 20;
/**
 * Creates a file. Creates its folder only if that is missing, because most exist: a document has several blobs. Retries if the
 * empty folder is removed at the same moment.
 */
async function createBelow<T>(path: string, create: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++)
    try {
      if (attempt > 1) await makeFolder(dirname(path));
      return await create();
    } catch (error) {
      if (!isError(error, "ENOENT") || attempt === MAX_ATTEMPTS) throw error;
    }
}

const WRITTEN = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC;
/** Bytes that Node writes at once. */
const ONE_WRITE = 512 * 1024;
/** A file whose write is durable when it ends, which saves a call of the file system. macOS would keep it in the disk's cache. */
const SYNCED = process.platform === "linux" ? WRITTEN | constants.O_SYNC : undefined;

const createFile = (path: string, flags: number): Promise<FileHandle> =>
  createBelow(path, () => open(path, flags, 0o600));

/** Gives a file a second name. False if the file system has no hard links, or the file has too many. Throws ENOENT. */
async function linkFile(from: string, to: string): Promise<boolean> {
  await stat(from);
  try {
    await createBelow(to, () => link(from, to));
  } catch (error) {
    // the copy that follows reports a full disk
    if (isError(error, "ENOSPC", "EDQUOT", "EXDEV", "EPERM", "EMLINK", "ENOTSUP", "EOPNOTSUPP", "ENOSYS")) return false;
    throw error;
  }
  // both names share the modification time, and the clean-up would remove an old blob of a thing that does not exist yet
  const now = new Date(currentTime());
  await utimes(to, now, now);
  await syncFolder(dirname(to));
  return true;
}

/** Throws when the signal aborts: millions of files take minutes. */
async function* findFiles(directory: string, signal?: AbortSignal): AsyncIterable<{ path: string; mtimeMs: number }> {
  for await (const entry of await opendir(directory, { recursive: true })) {
    signal?.throwIfAborted();
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    // the file may be removed meanwhile
    const stats = await stat(path).catch(() => undefined);
    if (stats) yield { path, mtimeMs: stats.mtimeMs };
  }
}

/** Writes a file durably. Leaves nothing behind on failure. */
async function storePart(path: string, sealed: Uint8Array): Promise<void> {
  try {
    const synced = sealed.length <= ONE_WRITE ? SYNCED : undefined;
    const file = await createFile(path, synced ?? WRITTEN);
    try {
      await file.writeFile(sealed);
      if (synced === undefined) await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    await rm(path, { force: true }).catch(() => {});
    throw error;
  }
}

const partPathIn = (directory: string): string => join(directory, `${randomUUID()}${PARTIAL_SUFFIX}`);

/** The clock by which the file system dates files. It may be another machine's, and the clock of this process may be wrong. */
async function readDiskTime(directory: string): Promise<number> {
  const path = partPathIn(directory);
  await storePart(path, Buffer.alloc(0));
  const { mtimeMs } = await stat(path);
  await rm(path, { force: true });
  return mtimeMs;
}

async function removeOldParts(directory: string, age_ms: number, signal?: AbortSignal): Promise<void> {
  const before = (await readDiskTime(directory)) - age_ms;
  for await (const { path, mtimeMs } of findFiles(directory, signal))
    if (path.endsWith(PARTIAL_SUFFIX) && mtimeMs < before) await rm(path, { force: true });
}

async function* findOldFolders(directory: string, age_ms: number, signal?: AbortSignal): AsyncIterable<string> {
  const before = (await readDiskTime(directory)) - age_ms;
  const newest = new Map<string, number>();
  for await (const { path, mtimeMs } of findFiles(directory, signal)) {
    const folder = relative(directory, dirname(path));
    newest.set(folder, Math.max(newest.get(folder) ?? 0, mtimeMs));
  }
  for (const [folder, at] of newest) if (at < before) yield folder;
}

/** A key begins with the organization's id. */
const organizationOf = (key: string): string => key.split("/", 1)[0]!;

/**
 * Blobs as files in a directory. A blob is visible under its key only when it is complete and on disk. `verify` throws if the disk no
 * longer keeps changes.
 */
export function openBlobs(directory: string, verify = verifyDisk): Blobs {
  const resolvePath = (key: string): string => {
    const path = normalize(join(directory, key));
    if (!path.startsWith(normalize(directory) + sep)) throw new Error("a blob key points outside the blobs' folder");
    return path;
  };

  const shareVerification = createSharedRuns();
  const verifyAll = (begin: () => void): Promise<void> => {
    begin();
    return verify(partPathIn(directory));
  };
  const durably = <T>(work: () => Promise<T>): Promise<T> =>
    onDisk(async () => {
      const result = await work();
      await shareVerification(directory, verifyAll);
      return result;
    });

  const readBlob = (key: string): Promise<Buffer | undefined> =>
    onDisk(() => readFile(resolvePath(key))).catch((error: unknown) => {
      if (isError(error, "ENOENT")) return undefined;
      throw error;
    });

  const store = async (folder: string, sealed: Uint8Array): Promise<string> => {
    const key = `${folder}/${randomUUID()}`;
    const path = resolvePath(key);
    await storePart(`${path}${PARTIAL_SUFFIX}`, sealed);
    await rename(`${path}${PARTIAL_SUFFIX}`, path);
    failpoint("after-blob-rename");
    await syncFolder(dirname(path));
    return key;
  };

  const linkOrStore = async (folder: string, key: string): Promise<string | undefined> => {
    const copy = `${folder}/${randomUUID()}`;
    try {
      if (await linkFile(resolvePath(key), resolvePath(copy))) return copy;
    } catch (error) {
      if (isError(error, "ENOENT")) return undefined;
      throw error;
    }
    const sealed = await readBlob(key);
    return sealed && store(folder, sealed);
  };

  return {
    put: (folder, sealed) => durably(() => store(folder, sealed)),
    link: (folder, key) => durably(() => linkOrStore(folder, key)),
    get: readBlob,
    remove: (key) => durably(() => removeFile(organizationOf(key), resolvePath(key))),
    removeAll: (folder) => durably(() => removeFolder(organizationOf(folder), resolvePath(folder))),
    removePartsOlderThan: (age_ms, signal) => removeOldParts(directory, age_ms, signal),
    foldersOlderThan: (age_ms, signal) => findOldFolders(directory, age_ms, signal),
  };
}
