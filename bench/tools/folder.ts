import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A data folder for one run. PostgreSQL's own user may enter it, or its files would be put elsewhere and stay behind. */
export const dataFolder = async (): Promise<{ path: string; remove(): Promise<void> }> => {
  const path = await mkdtemp(join(tmpdir(), "bench-"));
  await chmod(path, 0o711);
  return { path, remove: () => rm(path, { recursive: true }) };
};
