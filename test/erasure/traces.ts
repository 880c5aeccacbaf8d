import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";

/** All files below a folder. */
async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** The text as it may lie in a file: as it is, as UTF-16, in hex, and in base64 wherever it begins. */
function formsOf(text: string): Buffer[] {
  const bytes = Buffer.from(text);
  const shifted = [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    // the first and last characters also depend on what stands beside it
    return encoded.slice(before === 0 ? 0 : before + 1, -4);
  });
  return [bytes, Buffer.from(text, "utf16le"), ...[bytes.toString("hex"), ...shifted].map((form) => Buffer.from(form))];
}

/** Files below a folder in which the text stands in some form, by their path in it. */
export async function filesWith(folder: string, text: string): Promise<string[]> {
  const forms = formsOf(text);
  const found: string[] = [];
  for (const file of await filesBelow(folder)) {
    const bytes = await readFile(file).catch(() => Buffer.alloc(0));
    if (forms.some((form) => bytes.includes(form))) found.push(relative(folder, file));
  }
  return found.sort();
}
