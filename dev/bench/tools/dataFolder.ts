import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * A data folder for one run. The user that PostgreSQL runs as must be able to enter it; otherwise PostgreSQL's data goes to another
 * folder, which `remove` does not delete.
 */
export const dataFolder = async (): Promise<{ path: string; remove(): Promise<void> }> => {
  const path = await mkdtemp(join(tmpdir(), "bench-"));
  await chmod(path, 0o711);
  return { path, remove: () => rm(path, { recursive: true }) };
};
