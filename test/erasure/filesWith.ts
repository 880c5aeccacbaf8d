import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";

/** All files below a folder. */
async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** The encodings of a text in a file: UTF-8, UTF-16, hex, and base64 at each offset. */
function encodings(text: string): Buffer[] {
  const bytes = Buffer.from(text);
  const shifted = [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    // the first and last characters also depend on the neighbouring bytes
    return encoded.slice(before === 0 ? 0 : before + 1, -4);
  });
  return [bytes, Buffer.from(text, "utf16le"), ...[bytes.toString("hex"), ...shifted].map((form) => Buffer.from(form))];
}

/** Files below a folder that contain the text in some encoding, by their relative path. */
export async function filesWith(folder: string, text: string): Promise<string[]> {
  const forms = encodings(text);
  const found: string[] = [];
  for (const file of await filesBelow(folder)) {
    const bytes = await readFile(file).catch(() => Buffer.alloc(0));
    if (forms.some((form) => bytes.includes(form))) found.push(relative(folder, file));
  }
  return found.sort();
}
