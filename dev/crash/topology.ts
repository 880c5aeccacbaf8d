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
import { freePort } from "#infra/embedded/freePort.ts";
import { loadCredentials } from "../../cli/credentials.ts";
import { startNatsCluster } from "#test/natsCluster.ts";
import { LAUNCHER } from "#test/launcher.ts";
import type { Routes } from "#test/natsRoutes.ts";
import type { Environment } from "./environment.ts";
import { openClocks, type Clocks } from "./faults/clocks.ts";
import { openDisks, type Disks } from "./faults/disks.ts";
import { openNetwork, type Network } from "./faults/network.ts";
import type { Family, RoleName } from "./faults/surroundings.ts";
import type { Plant } from "./plants/plant.ts";
import { openVersions, type Versions } from "./versions/versions.ts";
import { supervise, type SupervisedProcess } from "./supervise.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const READY_MS = 240_000;
/** Faults that need a separate disk for each store. */
const ON_DISKS: Family[] = ["disk", "readonly", "slow", "power"];

export interface Credentials {
  organization_id: string;
  api_key: string;
  admin: { email: string; password: string };
}

/** Controls of environment faults. Each exists only in runs with such faults. */
export interface Surroundings {
  network?: Network;
  disks?: Disks;
  clocks?: Clocks;
  versions?: Versions;
  /** The network between the servers of a NATS cluster. */
  nats?: Routes;
}

/** A deployment as processes: the supervised servers, and each role twice, in separate processes or together. */
export interface Topology {
  addresses: Addresses;
  /** The folder of the servers' data. */
  data: string;
  roles: SupervisedProcess[];
  /** The first or second process that has a role. */
  processOf(role: RoleName, n: number): SupervisedProcess;
  ports: number[];
  credentials: Credentials;
  /** An organization other than the clients'. */
  other: Credentials;
  surroundings: Surroundings;
  /** Current pid of an embedded server. For a NATS cluster, each call returns the next server's pid. */
  pidOf(service: "postgres" | "nats" | "meilisearch"): Promise<number>;
  /** Stops the supervisor from restarting the embedded servers until the returned function is called. */
  holdSupervisor(): () => void;
  stop(): Promise<void>;
}

/** Strings that must never be found in a store or a log. */
export const CANARY = "canary-d41f8c2b";
/** Part of all texts and names of people: the feed must never contain it. */
export const PERSONAL = "personal-7be05a9c";

async function startSupervisor(folder: string, given: Environment) {
  const log = openSync(join(folder, "logs", "services.log"), "a");
  const env = { PATH: process.env["PATH"], HOME: process.env["HOME"], DATA_DIR: join(folder, "data"), ...given };
  const child = spawn(process.execPath, [join(root, "dev/crash/services.ts")], { env, stdio: ["ignore", "pipe", log] });
  const ended = once(child, "exit");
  const first = once(createInterface(child.stdout!), "line");
  const [line] = await Promise.race([first, ended.then(() => Promise.reject(new Error("the services do not start")))]);
  return {
    addresses: JSON.parse(String(line)) as Addresses,
    hold() {
      child.kill("SIGSTOP");
      return () => void child.kill("SIGCONT");
    },
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

/** Fakes of the outside: a provider's base URL, and the host that workflows call. */
interface Outside {
  provider: string;
  effects: string;
}

/** The environment of every process. */
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
  SCHEDULE_SECONDS: "1",
  LOG_LEVEL: "info",
});

async function makeOrganization(main: string, env: Environment, name: string): Promise<Credentials> {
  const { stdout } = await promisify(execFile)(process.execPath, [main, "org", "create", name, "--json"], { env });
  return JSON.parse(stdout) as Credentials;
}

/** NATS on three servers, each restarted when it ends. Each fault hits the next server. */
async function startBus(folder: string) {
  const cluster = await startNatsCluster(join(folder, "data", "cluster"), { keep: true, proxied: true });
  let faults = 0;
  return {
    given: { NATS_URL: cluster.url, NATS_REPLICAS: "3" },
    routes: cluster.routes!,
    pid: () => cluster.nodes[(faults += 1) % cluster.nodes.length]!.pid(),
    stop: cluster.stop,
  };
}

interface TopologyOptions {
  cluster: boolean;
  together: boolean;
  faults: Family[];
  plant?: Plant;
  /** Another version whose processes run beside those of this one. */
  beside?: string;
}

/** Code that a process loads before its own. */
const preload = (name: string): string[] => ["--import", new URL(`preload/${name}.ts`, import.meta.url).href];

/** The settings of a process with a planted bug. Its compiled code is cached separately. */
const plantSettings = (folder: string, { name }: Plant): Environment => ({
  CRASH_PLANT: name,
  NODE_COMPILE_CACHE: join(folder, "compiled"),
});

/** Creates a function that starts a role's process in its environment. */
function createStarter(
  folder: string,
  env: Environment,
  { network, clocks, versions, plant }: Surroundings & Pick<TopologyOptions, "plant">,
) {
  return async (role: SupervisedProcess["role"], n: number, more: Environment = {}) => {
    const name = `${role}-${n}`;
    return supervise({
      role,
      name,
      args: () => [
        ...LAUNCHER.flags,
        ...(clocks ? preload("clock") : []),
        ...(plant ? preload("plant") : []),
        versions?.mainOf(name) ?? join(root, "main.ts"),
        role,
      ],
      env: {
        ...LAUNCHER.env,
        ...env,
        ...(await network?.connect(name)),
        ...clocks?.settings(name),
        ...(plant && plantSettings(folder, plant)),
        ...more,
      },
      log: join(folder, "logs", `${name}.log`),
    });
  };
}

/** Starts a deployment in a folder: the servers' files are in `data`, the processes' output is in `logs`. */
export async function startTopology(
  folder: string,
  outside: Outside,
  { cluster, together, faults, plant, beside }: TopologyOptions,
): Promise<Topology & { env: Environment }> {
  await mkdir(join(folder, "logs"), { recursive: true });
  await mkdir(join(folder, "data"), { recursive: true, mode: 0o711 });
  const kinds: string[] = [...faults, ...(plant?.faults ?? []).map(({ what }) => what)];
  const surroundings: Surroundings = {
    ...(ON_DISKS.some((family) => kinds.includes(family)) && {
      disks: openDisks(join(folder, "data"), join(folder, "disks")),
    }),
    ...(faults.includes("clock") && { clocks: openClocks(join(folder, "clocks")) }),
    ...(beside !== undefined && { versions: openVersions(beside, join(folder, "other")) }),
  };
  const bus = cluster ? await startBus(folder) : undefined;
  if (bus) surroundings.nats = bus.routes;
  const supervisor = await startSupervisor(folder, bus?.given ?? {});
  if (faults.includes("network")) surroundings.network = openNetwork(supervisor.addresses);
  const env = { ...environment(folder, supervisor.addresses, outside), ...bus?.given };
  const ports = [await freePort(), await freePort()];
  const roles: SupervisedProcess[] = [];
  const start = createStarter(folder, env, { ...surroundings, ...(plant && { plant }) });
  const stop = async () => {
    await Promise.all(roles.map((role) => role.stop()));
    surroundings.network?.close();
    await supervisor.stop();
    await bus?.stop();
    surroundings.disks?.close();
  };
  try {
    for (const role of together ? [] : (["projections", "services"] as const))
      for (const n of [1, 2]) roles.push(await start(role, n));
    // two processes with every role start at the same moment, and together create one first organization
    for (const [n, port] of ports.entries())
      roles.push(await start(together ? "all" : "http", n + 1, { PORT: String(port) }));
    for (const role of roles) await role.ready(READY_MS);
    const main = surroundings.versions?.mainOf("svc") ?? join(root, "main.ts");
    const data = join(folder, "data");
    const credentials = together ? loadCredentials({ DATA_DIR: data })! : await makeOrganization(main, env, "Crash");
    const other = await makeOrganization(main, env, "Other");
    const pidOf = async (service: string) =>
      (bus && service === "nats" ? bus.pid() : undefined) ??
      (JSON.parse(await readFile(join(folder, "data", "run", `${service}.pid`), "utf8")) as { pid: number }).pid;
    const processOf = (role: RoleName, n: number) =>
      roles.find(({ name }) => name === `${together ? "all" : role}-${n}`)!;
    return {
      addresses: supervisor.addresses,
      data,
      roles,
      processOf,
      ports,
      credentials,
      other,
      env,
      surroundings,
      pidOf,
      holdSupervisor: supervisor.hold,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
