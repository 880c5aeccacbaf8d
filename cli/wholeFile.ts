import { existsSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { pipeline } from "node:stream/promises";
import { syncFolder } from "#infra/privateFiles.ts";
import { CliError } from "./cliError.ts";

/** Throws CliError unless the file can be created. An existing one may be the only copy of a certificate. */
export function requireNewFile(path: string): void {
  if (existsSync(path)) throw new CliError(`${path} exists already`, "name a new file");
  const folder = dirname(path);
  if (!existsSync(folder)) throw new CliError(`The folder ${folder} does not exist`, "create it, or name another file");
}

/** Writes a file beside the path, for a rename, and returns its path. A failure leaves nothing, and its error names the path. */
export async function writePart(
  path: string,
  content: AsyncIterable<string | Buffer> | Iterable<string>,
  mode: number,
): Promise<string> {
  const part = `${path}.${process.pid}.part`;
  try {
    // opened first: a stream that fails while it opens its file would create it after the removal below
    const file = await open(part, "wx", mode);
    await pipeline(content, file.createWriteStream({ flush: true }));
    return part;
  } catch (error) {
    await rm(part, { force: true });
    const failed = error as NodeJS.ErrnoException;
    // a person knows only the path that was named
    if (failed.path === part) failed.path = path;
    throw error;
  }
}

/**
 * Writes a file that only its owner can read. It has its name only when it is complete, so that a failed command can be run again
 * and leaves an existing file as it was.
 */
export async function writeWholeFile(path: string, content: AsyncIterable<string | Buffer>): Promise<void> {
  const part = await writePart(path, content, 0o600);
  try {
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw Object.assign(error as Error, { path });
  }
  syncFolder(dirname(path));
}
