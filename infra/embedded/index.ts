import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Settings } from "../config.ts";
import { addressesFile, type Addresses } from "./addresses.ts";
import { makeFolder } from "../folders.ts";
import { writePrivate } from "../privateFiles.ts";
import { acquireLock } from "./lock.ts";
import { identifyProcess } from "./processIdentity.ts";
import { meilisearchServer } from "./meilisearch.ts";
import { natsServer } from "./nats.ts";
import { postgresServer } from "./postgres.ts";
import type { ServerSpec } from "./serverSpec.ts";
import { guardSignals } from "./signals.ts";
import { signalAll, supervise, type RunningServer } from "./supervise.ts";

type ServerSettings = Pick<Settings, "DATA_DIR" | "DATABASE_URL" | "NATS_URL" | "MEILI_URL" | "MEILI_MASTER_KEY">;
export type EmbeddedServers = Addresses & { stop: () => Promise<void> };

const runtimeDir = fileURLToPath(new URL("../../.runtime", import.meta.url));

const externalAddresses = ({
  DATABASE_URL,
  NATS_URL,
  MEILI_URL,
  MEILI_MASTER_KEY,
}: ServerSettings): Addresses | undefined =>
  DATABASE_URL && NATS_URL && MEILI_URL
    ? { database_url: DATABASE_URL, nats_url: NATS_URL, meili_url: MEILI_URL, meili_master_key: MEILI_MASTER_KEY ?? "" }
    : undefined;

// As root, lets other users enter the folder without listing it: PostgreSQL's own user must reach its files there.
const makeDataFolder = (dataDir: string) => makeFolder(join(dataDir, "run"), process.getuid?.() === 0 ? 0o711 : 0o700);

const startMissing = async (
  settings: ServerSettings,
  dataDir: string,
  running: RunningServer[],
  onLine: (line: string) => void,
) => {
  const run = async (spec: ServerSpec) => {
    const server = await supervise(dataDir, spec, onLine);
    running.push(server);
    return server.url;
  };
  const meili = settings.MEILI_URL ? undefined : meilisearchServer(dataDir, onLine);
  return {
    database_url: settings.DATABASE_URL ?? (await run(await postgresServer(dataDir, onLine))),
    nats_url: settings.NATS_URL ?? (await run(await natsServer(dataDir, runtimeDir, onLine))),
    meili_url: meili ? await run(meili) : settings.MEILI_URL!,
    meili_master_key: meili?.masterKey ?? settings.MEILI_MASTER_KEY ?? "",
  };
};

/**
 * Starts those of PostgreSQL, NATS and Meilisearch that have no address in the settings, with their data in DATA_DIR, and
 * restarts them when they die. `onLine` receives messages for the operator. Rejects with a one-line error when the folder
 * is in use or a server does not start, and leaves nothing running. `stop` stops the servers, PostgreSQL last. A signal
 * during the start ends the process; afterwards the caller handles signals and calls `stop`.
 */
export const startEmbeddedServers = async (
  settings: ServerSettings,
  onLine: (line: string) => void,
): Promise<EmbeddedServers> => {
  const external = externalAddresses(settings);
  if (external) return { ...external, stop: async () => {} };
  const dataDir = resolve(settings.DATA_DIR);
  await makeDataFolder(dataDir);
  const lock = await acquireLock(dataDir, onLine);
  const running: RunningServer[] = [];
  const guard = guardSignals();
  process.once("exit", signalAll);

  const stop = async () => {
    lock.markStopping();
    rmSync(addressesFile(dataDir), { force: true });
    for (let server = running.pop(); server; server = running.pop()) await server.stop();
    process.off("exit", signalAll);
    guard.release();
    lock.release();
  };
  try {
    const addresses = await startMissing(settings, dataDir, running, onLine);
    writePrivate(addressesFile(dataDir), JSON.stringify({ ...identifyProcess(process.pid), ...addresses }));
    guard.onStarted();
    return { ...addresses, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};
