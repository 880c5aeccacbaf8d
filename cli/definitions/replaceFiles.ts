import { chmodSync, existsSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";

export interface NewText {
  file: string;
  text: string;
}

/** Writes the text beside the file, with its mode. Throws errors that name the file. */
function writePart({ file, text }: NewText): { part: string; target: string } {
  // an editor may have made it a link
  const target = existsSync(file) ? realpathSync(file) : file;
  const part = `${target}.${process.pid}.part`;
  try {
    // "wx": names that differ only in case may be one file
    writeFileSync(part, text, { flag: "wx", flush: true });
    if (existsSync(target)) chmodSync(part, statSync(target).mode);
    return { part, target };
  } catch (error) {
    rmSync(part, { force: true });
    (error as NodeJS.ErrnoException).path = file;
    throw error;
  }
}

/** Writes files. All texts are on the disk before the first file is replaced, so that a full disk changes none of them. */
export function replaceFiles(files: NewText[]): void {
  const written: { part: string; target: string }[] = [];
  try {
    for (const file of files) written.push(writePart(file));
    for (const { part, target } of written) renameSync(part, target);
  } finally {
    for (const { part } of written) rmSync(part, { force: true });
  }
}
