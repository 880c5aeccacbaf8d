import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { waitForGreeting } from "../nats/greeting.ts";
import { requireJetStream, requireSoundStreams } from "../nats/serverState.ts";
import { loadSecret } from "../privateFiles.ts";
import { natsBinary } from "./natsBinary.ts";
import { requireVersion } from "./programVersion.ts";
import type { ServerSpec } from "./serverSpec.ts";

/** The first version in which a request can name a consumer's filter in its subject. */
const OLDEST = [2, 9] as const;
/**
 * A power cut loses messages of up to this age. Their senders repeat them, and the sweep finds their work. `always` would wait for
 * the disk for every frame of an answer.
 */
const SYNC_INTERVAL = "1s";
/** The first version with `sync_interval`. Older ones refuse a configuration that has it. */
const WITH_SYNC_INTERVAL = [2, 10] as const;

/** `system`: of the system account's user, who can read the state of streams. */
interface Passwords {
  password: string;
  system: string;
}

// The limits are high because each prefix reserves 0.9 GB for its streams, and the tests' shared server has dozens of prefixes.
const config = (port: number, store: string, { password, system }: Passwords, hasSyncInterval: boolean) => `
host: "127.0.0.1"
port: ${port}
max_payload: 1MB
# a client that vanished keeps its requests for messages: the default would take minutes to notice
ping_interval: "1s"
ping_max: 2
authorization { users: [{ user: "svc", password: "${password}" }] }
accounts { $SYS { users: [{ user: "system", password: "${system}" }] } }
jetstream {
  store_dir: ${JSON.stringify(store)}
  max_memory_store: 4GB
  max_file_store: 1TB
  ${hasSyncInterval ? `sync_interval: "${SYNC_INTERVAL}"` : ""}
}
`;

/** A NATS server with JetStream in the data folder, on loopback, with a password. */
export const natsServer = async (
  dataDir: string,
  runtimeDir: string,
  onLine: (line: string) => void,
): Promise<ServerSpec> => {
  const binary = await natsBinary(runtimeDir, onLine);
  const store = join(dataDir, "nats");
  const file = join(dataDir, "run", "nats.conf");
  const password = loadSecret(join(dataDir, "nats.password"));
  const system = loadSecret(join(dataDir, "nats.system.password"));
  mkdirSync(store, { recursive: true, mode: 0o700 });
  const version = requireVersion({ name: "nats-server", path: binary }, OLDEST);
  const hasSyncInterval = version.atLeast(WITH_SYNC_INTERVAL);
  onLine(`NATS ${version.text} (${binary})`);
  const url = (port: number) => `nats://svc:${password}@127.0.0.1:${port}`;
  const systemUrl = (port: number) => `nats://system:${system}@127.0.0.1:${port}`;
  return {
    name: "nats",
    prepare: (port) => writeFileSync(file, config(port, store, { password, system }, hasSyncInterval), { mode: 0o600 }),
    command: () => ({ file: binary, args: ["--config", file] }),
    probe: (port) => waitForGreeting("127.0.0.1", port, 2_000),
    alive: (port, signal) =>
      Promise.all([requireJetStream(url(port), signal), requireSoundStreams(systemUrl(port), signal)]),
    stopSignal: "SIGTERM",
    url,
  };
};
