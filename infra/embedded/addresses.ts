import { join } from "node:path";
import { readJson } from "./files.ts";
import { isAlive, type Mark } from "./mark.ts";

export type Addresses = { database_url: string; nats_url: string; meili_url: string; meili_master_key: string };
type Kept = Mark & Addresses;

export const addressesFile = (dataDir: string) => join(dataDir, "run", "services.json");

/** The addresses of the services that a living process runs on this data folder; undefined when none does. */
export const runningAddresses = (dataDir: string): Addresses | undefined => {
  const kept = readJson<Kept>(addressesFile(dataDir));
  if (!kept || !isAlive(kept)) return undefined;
  const { pid: _pid, started: _started, ...addresses } = kept;
  return addresses;
};
