import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { keptSecret } from "./files.ts";
import { natsBinary } from "./natsBinary.ts";
import type { Service } from "./service.ts";

// `nats-server: v2.9.10`; sync_interval came with 2.10, and an older server refuses a config that has it.
const knowsSyncInterval = (binary: string) => {
  const [major = 0, minor = 0] = (/v(\d+)\.(\d+)/.exec(execFileSync(binary, ["--version"], { encoding: "utf8" })) ?? [])
    .slice(1)
    .map(Number);
  return major > 2 || (major === 2 && minor >= 10);
};

// Each prefix reserves 0.9 GB for its streams, used or not; a server that tests share has dozens of prefixes.
const config = (port: number, store: string, password: string, syncs: boolean) => `
host: "127.0.0.1"
port: ${port}
max_payload: 1MB
authorization { user: "svc", password: "${password}" }
jetstream {
  store_dir: ${JSON.stringify(store)}
  max_memory_store: 4GB
  max_file_store: 1TB
  ${syncs ? "sync_interval: always" : ""}
}
`;

// The server greets with INFO as soon as it listens, and listens when its streams are recovered.
const greeted = (port: number) =>
  new Promise<void>((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", timeout: 2_000 });
    socket.once("data", () => (socket.destroy(), resolve()));
    socket.once("timeout", () => socket.destroy(new Error("no greeting")));
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("closed without a greeting")));
  });

/** NATS with JetStream in the data folder, password only, on loopback. */
export const natsService = async (
  dataDir: string,
  runtimeDir: string,
  onLine: (line: string) => void,
): Promise<Service> => {
  const binary = await natsBinary(runtimeDir, onLine);
  const store = join(dataDir, "nats");
  const file = join(dataDir, "run", "nats.conf");
  const password = keptSecret(join(dataDir, "nats.password"));
  mkdirSync(store, { recursive: true, mode: 0o700 });
  const syncs = knowsSyncInterval(binary);
  return {
    name: "nats",
    prepare: (port) => writeFileSync(file, config(port, store, password, syncs), { mode: 0o600 }),
    command: () => ({ file: binary, args: ["--config", file] }),
    probe: greeted,
    stopSignal: "SIGTERM",
    url: (port) => `nats://svc:${password}@127.0.0.1:${port}`,
  };
};
