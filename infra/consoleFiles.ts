import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import mime from "mime-types";
import type { ConsoleFile, ConsoleFiles } from "#http/pages/files.ts";

/** Written by `dev/console/build.ts`, and by a stage of the image. */
export const CONSOLE_FOLDER = fileURLToPath(new URL("../.runtime/console", import.meta.url));

const readIfExists = (path: string): Buffer | undefined => (existsSync(path) ? readFileSync(path) : undefined);

function readConsoleFile(path: string): ConsoleFile {
  const bytes = readFileSync(path);
  return {
    type: mime.contentType(path.slice(path.lastIndexOf("."))) || "application/octet-stream",
    etag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`,
    bytes,
    br: readIfExists(`${path}.br`),
    gzip: readIfExists(`${path}.gz`),
  };
}

/** Reads all files of the built console into memory: about 2 MB. Undefined if it is not built. */
export async function readConsoleFiles(folder = CONSOLE_FOLDER): Promise<ConsoleFiles | undefined> {
  if (!existsSync(join(folder, "index.html"))) return undefined;
  const paths = await Array.fromAsync(glob("{*.html,*.svg,assets/*}", { cwd: folder }));
  const served = paths.filter((path) => !/\.(br|gz)$/.test(path));
  return new Map(served.map((path) => [path, readConsoleFile(join(folder, path))]));
}
