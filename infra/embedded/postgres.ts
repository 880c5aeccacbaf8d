import { execFile } from "node:child_process";
import {
  chownSync,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { isStarting } from "../postgres/waitForStart.ts";
import { loadSecret, syncFolder } from "../privateFiles.ts";
import { endProcess } from "./endProcess.ts";
import { preparePostgres, type PostgresInstallation } from "./postgresInstallation.ts";
import { identifyProcess } from "./processIdentity.ts";
import { StillStarting, type ServerSpec } from "./serverSpec.ts";

const runCommand = promisify(execFile);
/** Maximum wait for the end of a killed process. */
const LEFTOVER_MS = 5_000;
const cluster = (home: PostgresInstallation) => join(home.data, "18");
const program = (home: PostgresInstallation, name: string) => join(home.binaries, "bin", name);

// Initializes a temporary folder and renames it at the end, so that an interrupted start begins again.
const initialize = async (home: PostgresInstallation, password: string) => {
  if (existsSync(cluster(home))) return;
  const next = `${cluster(home)}.new`;
  const file = join(home.data, "password");
  rmSync(next, { recursive: true, force: true });
  writeFileSync(file, password, { mode: 0o600 });
  if (home.user) chownSync(file, home.user.uid, home.user.gid);
  const locale = ["--encoding=UTF8", "--locale-provider=builtin", "--locale=C", "--builtin-locale=C.UTF-8"];
  const access = ["--username=svc", `--pwfile=${file}`, "--auth=scram-sha-256"];
  try {
    const asUser = { ...home.user, cwd: home.data, env: { PATH: process.env["PATH"] } };
    await runCommand(program(home, "initdb"), ["-D", next, "--no-instructions", ...locale, ...access], asUser);
    renameSync(next, cluster(home));
    syncFolder(home.data);
  } catch (error) {
    const output = String((error as { stderr?: string }).stderr || error)
      .trim()
      .replaceAll("\n", " | ");
    throw new Error(
      `PostgreSQL's data folder ${home.data} cannot be created (${output}): fix that, or set DATABASE_URL.`,
      { cause: error },
    );
  } finally {
    rmSync(file, { force: true });
  }
};

// PostgreSQL trusts a postmaster.pid if its pid is alive, even if that now belongs to another program.
const removeStalePidFile = (home: PostgresInstallation) => {
  const path = join(cluster(home), "postmaster.pid");
  if (!existsSync(path)) return;
  const pid = Number(readFileSync(path, "utf8").split("\n")[0]);
  if (process.platform === "linux" && !readCommandLine(pid).includes(cluster(home))) rmSync(path, { force: true });
};

const readCommandLine = (pid: number) => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
};

const readWorkingFolder = (pid: number): string | undefined => {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
};

/**
 * Kills the processes that a killed postmaster has left behind. A process that is out of memory, or hangs on a disk, does not
 * notice the end of its postmaster, and PostgreSQL does not start beside it ("pre-existing shared memory block is still in use").
 */
const endLeftovers = async (home: PostgresInstallation): Promise<void> => {
  // while this file names a process, that one still leads the others
  if (process.platform !== "linux" || existsSync(join(cluster(home), "postmaster.pid"))) return;
  const folder = realpathSync(cluster(home));
  // a shell may be in the folder, too
  const isLeftover = (pid: number) =>
    readWorkingFolder(pid) === folder && readCommandLine(pid).startsWith("postgres: ");
  const pids = readdirSync("/proc").map(Number).filter(isLeftover);
  await Promise.all(pids.map((pid) => endProcess(identifyProcess(pid), "SIGKILL", LEFTOVER_MS)));
};

/** Connects once. Throws StillStarting if the server says so. */
const probe = async (url: string) => {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on("error", () => {});
  await client.connect().catch((error: unknown) => {
    throw isStarting(error) ? new StillStarting(error.message, { cause: error }) : error;
  });
  await client.end();
};

/** A PostgreSQL server from npm's binaries, on loopback without a socket file, with a password and the durable defaults. */
export const postgresServer = async (dataDir: string, onLine: (line: string) => void): Promise<ServerSpec> => {
  const home = preparePostgres(dataDir, onLine);
  const password = loadSecret(join(dataDir, "postgres.password"));
  await initialize(home, password);
  const options = (port: number) => [
    "-c",
    "listen_addresses=127.0.0.1",
    "-c",
    `port=${port}`,
    "-c",
    "unix_socket_directories=",
    // so that WAL segments with deleted data are overwritten soon
    "-c",
    "archive_timeout=1h",
  ];
  const url = (port: number) => `postgres://svc:${password}@127.0.0.1:${port}/postgres`;
  return {
    name: "postgres",
    async prepare() {
      removeStalePidFile(home);
      await endLeftovers(home);
    },
    command: (port) => ({
      file: program(home, "postgres"),
      args: ["-D", cluster(home), ...options(port), "-c", "max_connections=300"],
      env: { LC_ALL: "C" },
      cwd: home.data,
      ...home.user,
    }),
    probe: (port) => probe(url(port)),
    stopSignal: "SIGINT",
    url,
  };
};
