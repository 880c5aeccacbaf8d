import { randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";

/** Makes the names in a folder durable. */
export function syncFolder(folder: string): void {
  const open = openSync(folder, "r");
  try {
    fsyncSync(open);
  } finally {
    closeSync(open);
  }
}

/** Writes a file atomically and durably, readable only by its owner. */
export const writePrivate = (path: string, text: string) => {
  const next = `${path}.${process.pid}.new`;
  writeFileSync(next, text, { mode: 0o600, flush: true });
  renameSync(next, path);
  syncFolder(dirname(path));
};

const linkNew = (from: string, to: string): boolean => {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(from, { force: true });
  }
};

/** Creates a file atomically and durably; false if it exists already. */
export const claimFile = (path: string, text: string) => {
  const next = `${path}.${process.pid}.${randomBytes(4).toString("hex")}`;
  writeFileSync(next, text, { mode: 0o600, flush: true });
  const isNew = linkNew(next, path);
  // also for a file of another process, which may die before it syncs
  syncFolder(dirname(path));
  return isNew;
};

/** The JSON in the file; undefined when the file is missing or incomplete. */
export const readJson = <T>(path: string): T | undefined => {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as T;
  } catch {
    return undefined;
  }
};

/** The secret in the file, created by the first call: 32 random bytes in this encoding. */
export const loadSecret = (path: string, encoding: "hex" | "base64" = "hex") => {
  if (!existsSync(path)) claimFile(path, `${randomBytes(32).toString(encoding)}\n`);
  return readFileSync(path, "utf8").trim();
};
