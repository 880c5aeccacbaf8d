import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A new data folder, which PostgreSQL's own user may enter. */
export const makeDataFolder = async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-data-"));
  await chmod(folder, 0o711);
  return folder;
};

/** Removes it, with the files of PostgreSQL that had to lie elsewhere. */
export const removeDataFolder = async (folder: string) => {
  const elsewhere = await readFile(join(folder, "postgres.path"), "utf8").catch(() => undefined);
  for (const path of elsewhere ? [elsewhere, folder] : [folder]) await rm(path, { recursive: true, force: true });
};
