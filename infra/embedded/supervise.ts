import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { endProcess } from "./endProcess.ts";
import { readJson, writePrivate } from "../privateFiles.ts";
import { freePort } from "./freePort.ts";
import { identifyProcess, isAlive, signal, type ProcessIdentity } from "./processIdentity.ts";
import { DataUnreadable, StillStarting, type ServerSpec } from "./serverSpec.ts";
import { watchHealth } from "./watchHealth.ts";

export type RunningServer = { url: string; stop: () => Promise<void> };
/** `exited` resolves with the reason. */
type Child = { identity: ProcessIdentity; exited: Promise<string> };
/** The living children, each with its stop signal. */
const living = new Map<ProcessIdentity, NodeJS.Signals>();
const STOP_TIMEOUT_MS = 15_000;
/** Time without an answer after which a server that starts is killed. */
const READY_TIMEOUT_MS = 60_000;
const MAX_BACKOFF_MS = 10_000;
/** A server that dies after this time restarts without backoff. */
const STABLE_MS = 30_000;
/** Another process may take the port between the check and the start. */
const MAX_START_ATTEMPTS = 3;

/** Signals that show that somebody else ended a server. */
const KILLED = new Set(["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP"]);

const pidFile = (dataDir: string, name: string) => join(dataDir, "run", `${name}.pid`);
const logFile = (dataDir: string, name: string) => join(dataDir, "run", `${name}.log`);
const lastLogLines = (dataDir: string, name: string) => {
  const path = logFile(dataDir, name);
  return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n").slice(-3).join(" | ").slice(-400) : "";
};

/** Sends every child its stop signal without waiting. For a process that is about to exit. */
export const signalAll = () => {
  for (const [identity, stopSignal] of living) if (isAlive(identity)) signal(identity.pid, stopSignal);
};

/** Ends the process that an earlier start left running for this server, if any. */
const endOrphan = async (dataDir: string, spec: ServerSpec, onLine: (line: string) => void) => {
  const orphan = readJson<ProcessIdentity>(pidFile(dataDir, spec.name));
  if (!orphan || !isAlive(orphan)) return;
  onLine(`Ending ${spec.name} (process ${orphan.pid}), left over from an earlier start`);
  await endProcess(orphan, spec.stopSignal, STOP_TIMEOUT_MS);
};

// Starts the server in its own session, so that the terminal's Ctrl-C does not reach it. Output goes to a file, because a pipe
// would break if we die first.
const spawnLogged = (dataDir: string, spec: ServerSpec, port: number) => {
  const { file, args, env, ...rest } = spec.command(port);
  const log = openSync(logFile(dataDir, spec.name), "w", 0o600);
  const { PATH, HOME, TZ } = process.env;
  try {
    return spawn(file, args, {
      ...rest,
      env: { PATH, HOME, TZ, ...env },
      detached: true,
      stdio: ["ignore", log, log],
    });
  } finally {
    closeSync(log);
  }
};

/** Throws if a file cannot be written: the disk is full or read-only. */
const launch = async (dataDir: string, spec: ServerSpec, port: number): Promise<Child> => {
  await spec.prepare?.(port);
  const child = spawnLogged(dataDir, spec, port);
  const exited = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, name) => resolve(name ?? `exit code ${code}`));
  });
  const identity = identifyProcess(child.pid ?? 0);
  living.set(identity, spec.stopSignal);
  void exited.then(() => living.delete(identity));
  try {
    writePrivate(pidFile(dataDir, spec.name), JSON.stringify(identity));
  } catch (error) {
    // after the next start nobody would find it
    await endProcess(identity, "SIGKILL", STOP_TIMEOUT_MS);
    throw error;
  }
  return { identity, exited };
};

// Undefined when the server is ready, otherwise why it is not.
const waitUntilReady = async (spec: ServerSpec, port: number, child: Child, stopping?: AbortSignal) => {
  let failure: string | undefined;
  let until = performance.now() + READY_TIMEOUT_MS;
  void child.exited.then((reason) => (failure = reason));
  const isReady = async () => {
    try {
      await spec.probe(port);
      return true;
    } catch (error) {
      if (error instanceof DataUnreadable) failure = error.message;
      if (error instanceof StillStarting) until = performance.now() + READY_TIMEOUT_MS;
      return false;
    }
  };
  for (; performance.now() < until && !stopping?.aborted; await sleep(25)) {
    if (failure !== undefined) break;
    if (await isReady()) return undefined;
  }
  await endProcess(child.identity, "SIGKILL", STOP_TIMEOUT_MS);
  return failure ?? `not ready after ${READY_TIMEOUT_MS / 1_000} s`;
};

/** Consecutive deaths of a server soon after its start. `crashes` does not count deaths by a signal from outside. */
type Ends = { deaths: number; crashes: number };
type ServerToSupervise = { dataDir: string; spec: ServerSpec; onLine: (line: string) => void };
/** `child`: also set for a failed start whose child has ended; absent if the server could not be launched. */
type Start = { child: Child; failure: undefined } | { child: Child | undefined; failure: string };

const notLaunched = (error: unknown): Start => ({
  child: undefined,
  failure: error instanceof Error ? error.message : String(error),
});

const start = async (dataDir: string, spec: ServerSpec, port: number, stopping?: AbortSignal): Promise<Start> => {
  let child: Child;
  try {
    child = await launch(dataDir, spec, port);
  } catch (error) {
    return notLaunched(error);
  }
  const failure = await waitUntilReady(spec, port, child, stopping);
  return failure === undefined ? { child, failure } : { child, failure };
};

/** Starts the server without its data. If that fails too, the data were not the cause and are put back. */
const startWithoutData = async (folder: string, startOnce: () => Promise<Start>): Promise<Start> => {
  const aside = `${folder}.unreadable`;
  try {
    rmSync(aside, { recursive: true, force: true });
    renameSync(folder, aside);
  } catch (error) {
    return notLaunched(error);
  }
  const started = await startOnce();
  const dataWereReason = started.failure === undefined;
  try {
    rmSync(dataWereReason ? aside : folder, { recursive: true, force: true });
    if (!dataWereReason) renameSync(aside, folder);
  } catch {
    // the disk accepts no writes: a later start removes the leftovers
  }
  return started;
};

const countEnd = ({ deaths, crashes }: Ends, reason: string): Ends => ({
  deaths: deaths + 1,
  crashes: KILLED.has(reason) ? 0 : crashes + 1,
});

/** A restart after a number of failed starts or crashes. The last attempt leaves out rebuildable data, which may be the cause. */
const startAfter = async (
  failures: number,
  { dataDir, spec, onLine }: ServerToSupervise,
  port: number,
  stopping?: AbortSignal,
): Promise<Start> => {
  const startOnce = () => start(dataDir, spec, port, stopping);
  const { rebuildable } = spec;
  const isLast = failures % MAX_START_ATTEMPTS === MAX_START_ATTEMPTS - 1;
  if (!isLast || rebuildable === undefined || !existsSync(rebuildable)) return startOnce();
  const logged = lastLogLines(dataDir, spec.name);
  const started = await startWithoutData(rebuildable, startOnce);
  if (started.failure === undefined)
    onLine(`${spec.name} could not read its data and starts without them; they are rebuilt from the log: ${logged}`);
  return started;
};

const startFirst = async (supervised: ServerToSupervise) => {
  const { dataDir, spec } = supervised;
  for (let failures = 0; ; failures++) {
    const port = await freePort();
    const started = await startAfter(failures, supervised, port);
    if (started.failure === undefined) return { port, child: started.child };
    if (failures === MAX_START_ATTEMPTS - 1)
      throw new Error(`${spec.name} does not start (${started.failure}): ${lastLogLines(dataDir, spec.name)}`);
  }
};

/** Starts the server on a free port, and restarts it there with backoff until `stop`. Rejects with a one-line error if the first start fails. */
export const supervise = async (
  dataDir: string,
  spec: ServerSpec,
  onLine: (line: string) => void,
): Promise<RunningServer> => {
  mkdirSync(join(dataDir, "run"), { recursive: true });
  await endOrphan(dataDir, spec, onLine);
  const supervised = { dataDir, spec, onLine };
  const first = await startFirst(supervised);
  const { port } = first;
  let child = first.child;
  const stopping = new AbortController();

  const restart = async ({ deaths, crashes }: Ends): Promise<void> => {
    for (let failures = 0; ; failures++) {
      const delay = Math.min(100 * 2 ** (deaths + failures), MAX_BACKOFF_MS);
      await sleep(delay, undefined, { signal: stopping.signal });
      const started = await startAfter(crashes + failures, supervised, port, stopping.signal);
      child = started.child ?? child;
      if (stopping.signal.aborted) return;
      if (started.failure === undefined) return onLine(`${spec.name} restarted as process ${child.identity.pid}`);
      onLine(`${spec.name} does not restart (${started.failure}), retrying: ${lastLogLines(dataDir, spec.name)}`);
    }
  };
  const restartUntilStopped = async () => {
    for (let ends: Ends = { deaths: 0, crashes: 0 }; !stopping.signal.aborted; ) {
      const since = performance.now();
      const reason = await child.exited;
      if (stopping.signal.aborted) return;
      ends = performance.now() - since > STABLE_MS ? { deaths: 0, crashes: 0 } : countEnd(ends, reason);
      onLine(`${spec.name} (process ${child.identity.pid}) died (${reason}), restarting it`);
      await restart(ends);
    }
  };
  const killHung = async (reason: unknown) => {
    onLine(`${spec.name} (process ${child.identity.pid}) does not answer, ending it: ${String(reason)}`);
    await endProcess(child.identity, "SIGKILL", STOP_TIMEOUT_MS);
  };
  const { alive } = spec;
  const watching = alive && watchHealth((signal) => alive(port, signal), killHung, stopping.signal);
  const restarting = restartUntilStopped().catch((error: unknown) => {
    if (!stopping.signal.aborted) onLine(`${spec.name} cannot be restarted: ${String(error)}`);
  });

  return {
    url: spec.url(port),
    stop: async () => {
      stopping.abort();
      await endProcess(child.identity, spec.stopSignal, STOP_TIMEOUT_MS);
      await Promise.all([restarting, watching]);
      // again, because a restart may have been in progress
      await endProcess(child.identity, spec.stopSignal, STOP_TIMEOUT_MS);
      rmSync(pidFile(dataDir, spec.name), { force: true });
    },
  };
};
