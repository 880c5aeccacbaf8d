import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import mime from "mime-types";
import type { BuiltFile, BuiltFiles } from "#http/base/builtFiles.ts";

/** Written by `dev/console/build.ts`, and by a stage of the image. */
export const CONSOLE_FOLDER = fileURLToPath(new URL("../.runtime/console", import.meta.url));
/** The documentation, built by the same script. */
export const DOCS_FOLDER = join(CONSOLE_FOLDER, "docs");

const readIfExists = (path: string): Buffer | undefined => (existsSync(path) ? readFileSync(path) : undefined);

function readBuiltFile(path: string): BuiltFile {
  const bytes = readFileSync(path);
  return {
    type: mime.contentType(path.slice(path.lastIndexOf("."))) || "application/octet-stream",
    etag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`,
    bytes,
    br: readIfExists(`${path}.br`),
    gzip: readIfExists(`${path}.gz`),
  };
}

/** Reads the built files that match the pattern into memory. Undefined if nothing is built. */
async function readBuiltFiles(folder: string, pattern: string): Promise<BuiltFiles | undefined> {
  if (!existsSync(join(folder, "index.html"))) return undefined;
  const paths = await Array.fromAsync(glob(pattern, { cwd: folder }));
  const served = paths.filter((path) => !/\.(br|gz)$/.test(path));
  return new Map(served.map((path) => [path, readBuiltFile(join(folder, path))]));
}

const REFERENCE_FOLDER = join(CONSOLE_FOLDER, "reference");

/** The console, the documentation and the API reference: about 11 MB. */
export const readPages = async () => ({
  consoleFiles: await readBuiltFiles(CONSOLE_FOLDER, "{*.html,*.svg,assets/*,pdf/*.html,pdf/*/*}"),
  docsFiles: await readBuiltFiles(DOCS_FOLDER, "{**/*.html,*.svg,assets/*,pictures/*}"),
  referenceFiles: await readBuiltFiles(REFERENCE_FOLDER, "*"),
});
