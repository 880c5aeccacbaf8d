import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { openSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { fileURLToPath } from "node:url";
import type { Addresses } from "#infra/embedded/addresses.ts";
import { freePort } from "#infra/embedded/port.ts";
import { startNatsCluster } from "#test/natsCluster.ts";
import { keepRunning, type Kept } from "./process.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const READY_MS = 90_000;

export interface Credentials {
  organization_id: string;
  api_key: string;
  admin: { email: string; password: string };
}
export type Environment = Record<string, string>;

/** A deployment as processes: the services under their supervisor, and each role twice. */
export interface Topology {
  addresses: Addresses;
  roles: Kept[];
  ports: number[];
  credentials: Credentials;
  /** An organization beside the one that the clients belong to. */
  other: Credentials;
  /** Pid of an embedded service, as its supervisor has it now; of a NATS cluster, of the server whose turn it is. */
  pidOf(service: "postgres" | "nats" | "meilisearch"): Promise<number>;
  stop(): Promise<void>;
}

/** Strings that must never be found in a store or a log. */
export const CANARY = "canary-d41f8c2b";
/** Stands in all that people say, are called and get: other services must never be told it. */
export const PERSONAL = "personal-7be05a9c";

async function startSupervisor(folder: string, given: Environment) {
  const log = openSync(join(folder, "logs", "services.log"), "a");
  const env = { PATH: process.env["PATH"], HOME: process.env["HOME"], DATA_DIR: join(folder, "data"), ...given };
  const child = spawn(process.execPath, [join(root, "crash/services.ts")], { env, stdio: ["ignore", "pipe", log] });
  const ended = once(child, "exit");
  const first = once(createInterface(child.stdout!), "line");
  const [line] = await Promise.race([first, ended.then(() => Promise.reject(new Error("the services do not start")))]);
  return {
    addresses: JSON.parse(String(line)) as Addresses,
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

/** What stands for the outside: the base URL of a provider, and the host that workflows act on. */
interface Outside {
  provider: string;
  effects: string;
}

/** What every process of the deployment is given. */
const environment = (folder: string, addresses: Addresses, { provider, effects }: Outside): Environment => ({
  PATH: process.env["PATH"] ?? "",
  HOME: process.env["HOME"] ?? "",
  DATA_DIR: join(folder, "data"),
  DATABASE_URL: addresses.database_url,
  NATS_URL: addresses.nats_url,
  MEILI_URL: addresses.meili_url,
  MEILI_MASTER_KEY: addresses.meili_master_key,
  MASTER_KEY: randomBytes(32).toString("base64"),
  OPENAI_API_KEY: `${CANARY}-deployment`,
  OPENAI_BASE_URL: provider,
  PRIVATE_PROVIDER_HOSTS: "127.0.0.1",
  PRIVATE_FETCH_HOSTS: effects,
  TURN_SECONDS: "20",
  LOG_LEVEL: "info",
});

async function makeOrganization(env: Environment, name: string): Promise<Credentials> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(root, "main.ts"), "org", "create", name, "--json"],
    { env },
  );
  return JSON.parse(stdout) as Credentials;
}

/** NATS on three servers, each started again when it ends; blows fall on one after the other. */
async function startBus(folder: string) {
  const cluster = await startNatsCluster(join(folder, "data", "cluster"), { keep: true });
  let blows = 0;
  return {
    given: { NATS_URL: cluster.url, NATS_REPLICAS: "3" },
    pid: () => cluster.nodes[(blows += 1) % cluster.nodes.length]!.pid(),
    stop: cluster.stop,
  };
}

/** Starts everything below a folder: `data` is what is killed, `logs` what the processes say. */
export async function startTopology(
  folder: string,
  outside: Outside,
  cluster: boolean,
): Promise<Topology & { env: Environment }> {
  await mkdir(join(folder, "logs"), { recursive: true });
  await mkdir(join(folder, "data"), { recursive: true, mode: 0o711 });
  const bus = cluster ? await startBus(folder) : undefined;
  const supervisor = await startSupervisor(folder, bus?.given ?? {});
  const env = { ...environment(folder, supervisor.addresses, outside), ...bus?.given };
  const ports = [await freePort(), await freePort()];
  const roles: Kept[] = [];
  const start = (role: Kept["role"], n: number, more: Environment = {}) =>
    roles.push(
      keepRunning({
        role,
        name: `${role}-${n}`,
        args: [join(root, "main.ts"), role],
        env: { ...env, ...more },
        log: join(folder, "logs", `${role}-${n}.log`),
      }),
    );
  const stop = async () => {
    await Promise.all(roles.map((role) => role.stop()));
    await supervisor.stop();
    await bus?.stop();
  };
  try {
    for (const n of [1, 2]) start("projections", n);
    for (const n of [1, 2]) start("services", n);
    for (const [n, port] of ports.entries()) start("http", n + 1, { PORT: String(port) });
    for (const role of roles) await role.ready(READY_MS);
    const credentials = await makeOrganization(env, "Crash");
    const other = await makeOrganization(env, "Other");
    const pidOf = async (service: string) =>
      (bus && service === "nats" ? bus.pid() : undefined) ??
      (JSON.parse(await readFile(join(folder, "data", "run", `${service}.pid`), "utf8")) as { pid: number }).pid;
    return { addresses: supervisor.addresses, roles, ports, credentials, other, env, pidOf, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
