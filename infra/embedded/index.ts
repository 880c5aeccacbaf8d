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
import { supervise, type Running } from "./supervise.ts";

type Given = Pick<Settings, "DATA_DIR" | "DATABASE_URL" | "NATS_URL" | "MEILI_URL" | "MEILI_MASTER_KEY">;
export type Services = Addresses & { stop: () => Promise<void> };

const runtimeDir = fileURLToPath(new URL("../../.runtime", import.meta.url));

/**
 * Starts whichever of PostgreSQL, NATS and Meilisearch is not given by an address, on the data kept in DATA_DIR, and keeps them alive.
 * `onLine` hears what a person should know, a line at a time. Rejects with one line when the folder is in use or a service cannot be had;
 * nothing is left running then. `stop` ends what was started, PostgreSQL last.
 */
export const startServices = async (settings: Given, onLine: (line: string) => void): Promise<Services> => {
  const dataDir = resolve(settings.DATA_DIR);
  // As root the folder may be entered, not listed, so that PostgreSQL's own user reaches its part of it.
  mkdirSync(join(dataDir, "run"), { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  const lock = await takeLock(dataDir, onLine);
  const running: Running[] = [];
  const killNow = () => running.forEach((service) => service.killNow());
  process.once("exit", killNow);

  const stop = async () => {
    lock.stopping();
    rmSync(addressesFile(dataDir), { force: true });
    for (let service = running.pop(); service; service = running.pop()) await service.stop();
    process.off("exit", killNow);
    lock.release();
  };
  const run = async (service: Service) => {
    const started = await supervise(dataDir, service, onLine);
    running.push(started);
    return started.url;
  };

  try {
    const database_url = settings.DATABASE_URL ?? (await run(await postgresService(dataDir, onLine)));
    const nats_url = settings.NATS_URL ?? (await run(await natsService(dataDir, runtimeDir, onLine)));
    const meili = settings.MEILI_URL ? undefined : meilisearchService(dataDir);
    const meili_url = settings.MEILI_URL ?? (await run(meili!));
    const addresses = {
      database_url,
      nats_url,
      meili_url,
      meili_master_key: meili?.masterKey ?? settings.MEILI_MASTER_KEY ?? "",
    };
    writePrivate(addressesFile(dataDir), JSON.stringify({ ...markOf(process.pid), ...addresses }));
    return { ...addresses, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};
