import { join } from "node:path";
import { readJson } from "../privateFiles.ts";
import { isAlive, type ProcessIdentity } from "./processIdentity.ts";

export type Addresses = { database_url: string; nats_url: string; meili_url: string; meili_master_key: string };
type AddressesFile = ProcessIdentity & Addresses;

export const addressesFile = (dataDir: string) => join(dataDir, "run", "services.json");

/** The addresses of the servers run by a living process on this data folder; undefined if there is none. */
export const runningAddresses = (dataDir: string): Addresses | undefined => {
  const file = readJson<AddressesFile>(addressesFile(dataDir));
  if (!file || !isAlive(file)) return undefined;
  const { pid: _pid, started: _started, ...addresses } = file;
  return addresses;
};
