import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Child } from "../tools/child.ts";
import { waitUntil } from "../tools/waitUntil.ts";

/** Preloaded into the processes whose live memory is read. */
export const REPORTER = fileURLToPath(new URL("./reportLiveMemory.ts", import.meta.url));

/** MiB still in use in a process's main thread after a garbage collection. `folder`: its data folder. */
export async function readLiveMemory(child: Child, folder: string): Promise<number> {
  const path = join(folder, `live-${child.pid}`);
  process.kill(child.pid, "SIGUSR2");
  const bytes = await waitUntil(child, path, 50, () => readFile(path, "utf8").catch(() => undefined));
  await rm(path);
  return Number(bytes) / 1024 ** 2;
}
