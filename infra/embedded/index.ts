import { mkdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Settings } from "../config.ts";
import { addressesFile, type Addresses } from "./addresses.ts";
import { writePrivate } from "./files.ts";
import { takeLock } from "./lock.ts";
import { markOf } from "./mark.ts";
import { meilisearchService } from "./meilisearch.ts";
import { natsService } from "./nats.ts";
import { postgresService } from "./postgres.ts";
import type { Service } from "./service.ts";
import { guardSignals } from "./signals.ts";
import { signalAll, supervise, type Running } from "./supervise.ts";

type Given = Pick<Settings, "DATA_DIR" | "DATABASE_URL" | "NATS_URL" | "MEILI_URL" | "MEILI_MASTER_KEY">;
export type Services = Addresses & { stop: () => Promise<void> };

const runtimeDir = fileURLToPath(new URL("../../.runtime", import.meta.url));

const noService = async () => {};

const allGiven = ({ DATABASE_URL, NATS_URL, MEILI_URL, MEILI_MASTER_KEY }: Given): Addresses | undefined =>
  DATABASE_URL && NATS_URL && MEILI_URL
    ? { database_url: DATABASE_URL, nats_url: NATS_URL, meili_url: MEILI_URL, meili_master_key: MEILI_MASTER_KEY ?? "" }
    : undefined;

// As root the folder may be entered, not listed, so that PostgreSQL's own user reaches its part of it.
const makeFolder = (dataDir: string) =>
  mkdirSync(join(dataDir, "run"), { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });

const startMissing = async (settings: Given, dataDir: string, running: Running[], onLine: (line: string) => void) => {
  const run = async (service: Service) => {
    const started = await supervise(dataDir, service, onLine);
    running.push(started);
    return started.url;
  };
  const meili = settings.MEILI_URL ? undefined : meilisearchService(dataDir);
  return {
    database_url: settings.DATABASE_URL ?? (await run(await postgresService(dataDir, onLine))),
    nats_url: settings.NATS_URL ?? (await run(await natsService(dataDir, runtimeDir, onLine))),
    meili_url: meili ? await run(meili) : settings.MEILI_URL!,
    meili_master_key: meili?.masterKey ?? settings.MEILI_MASTER_KEY ?? "",
  };
};

/**
 * Starts whichever of PostgreSQL, NATS and Meilisearch is not given by an address, on the data kept in DATA_DIR, and keeps them alive.
 * `onLine` hears what a person should know, a line at a time. Rejects with one line when the folder is in use or a service cannot be had;
 * nothing is left running then. `stop` ends what was started, PostgreSQL last. A signal during the start ends the process; after it, the
 * caller listens to signals and calls `stop`.
 */
export const startServices = async (settings: Given, onLine: (line: string) => void): Promise<Services> => {
  const given = allGiven(settings);
  if (given) return { ...given, stop: noService };
  const dataDir = resolve(settings.DATA_DIR);
  makeFolder(dataDir);
  const lock = await takeLock(dataDir, onLine);
  const running: Running[] = [];
  const guard = guardSignals();
  process.once("exit", signalAll);

  const stop = async () => {
    lock.stopping();
    rmSync(addressesFile(dataDir), { force: true });
    for (let service = running.pop(); service; service = running.pop()) await service.stop();
    process.off("exit", signalAll);
    guard.release();
    lock.release();
  };
  try {
    const addresses = await startMissing(settings, dataDir, running, onLine);
    writePrivate(addressesFile(dataDir), JSON.stringify({ ...markOf(process.pid), ...addresses }));
    guard.started();
    return { ...addresses, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};
