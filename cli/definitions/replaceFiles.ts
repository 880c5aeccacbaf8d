import { existsSync, realpathSync } from "node:fs";
import { chmod, rename, rm, stat } from "node:fs/promises";
import { writePart } from "../wholeFile.ts";

export interface NewText {
  file: string;
  text: string;
}

/** Writes files, which keep their modes. All texts are on the disk before the first file is replaced, so that a full disk changes none of them. */
export async function replaceFiles(files: NewText[]): Promise<void> {
  const written: { part: string; target: string }[] = [];
  try {
    for (const { file, text } of files) {
      // an editor may have made it a link
      const target = existsSync(file) ? realpathSync(file) : file;
      const part = await writePart(target, [text], 0o666);
      written.push({ part, target });
      if (existsSync(target)) await chmod(part, (await stat(target)).mode);
    }
    for (const { part, target } of written) await rename(part, target);
  } finally {
    for (const { part } of written) await rm(part, { force: true });
  }
}
