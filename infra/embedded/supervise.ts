import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { endProcess } from "./endProcess.ts";
import { readJson, writePrivate } from "./files.ts";
import { freePort } from "./freePort.ts";
import { identifyProcess, isAlive, signal, type ProcessIdentity } from "./processIdentity.ts";
import type { ServerSpec } from "./serverSpec.ts";
import { watchAlive } from "./watchAlive.ts";

export type RunningServer = { url: string; stop: () => Promise<void> };
/** `exited` resolves to the reason. */
type Child = { identity: ProcessIdentity; exited: Promise<string> };
/** Every living child, and the signal that stops it. */
const living = new Map<ProcessIdentity, NodeJS.Signals>();
const STOP_TIMEOUT_MS = 15_000;
const READY_TIMEOUT_MS = 60_000;
const MAX_BACKOFF_MS = 10_000;
/** A server that dies after this time restarts without backoff. */
const STABLE_MS = 30_000;
/** Another process can take the port between the check and the start. */
const MAX_START_ATTEMPTS = 3;

const pidFile = (dataDir: string, name: string) => join(dataDir, "run", `${name}.pid`);
const logFile = (dataDir: string, name: string) => join(dataDir, "run", `${name}.log`);
const lastLogLines = (dataDir: string, name: string) =>
  readFileSync(logFile(dataDir, name), "utf8").trim().split("\n").slice(-3).join(" | ").slice(-400);

/** Sends every child its stop signal without waiting, for a process that is about to exit. */
export const signalAll = () => {
  for (const [identity, stopSignal] of living) if (isAlive(identity)) signal(identity.pid, stopSignal);
};

/** Ends the process that an earlier start left running for this server, if there is one. */
const endOrphan = async (dataDir: string, spec: ServerSpec, onLine: (line: string) => void) => {
  const orphan = readJson<ProcessIdentity>(pidFile(dataDir, spec.name));
  if (!orphan || !isAlive(orphan)) return;
  onLine(`Ending ${spec.name} (process ${orphan.pid}), left over from an earlier start`);
  await endProcess(orphan, spec.stopSignal, STOP_TIMEOUT_MS);
};

// In its own session, so that the terminal's Ctrl-C does not reach it. Output goes to a file, because a pipe would break if we die first.
const launch = async (dataDir: string, spec: ServerSpec, port: number): Promise<Child> => {
  await spec.prepare?.(port);
  const { file, args, env, ...rest } = spec.command(port);
  const log = openSync(logFile(dataDir, spec.name), "w", 0o600);
  const { PATH, HOME, TZ } = process.env;
  const child = spawn(file, args, {
    ...rest,
    env: { PATH, HOME, TZ, ...env },
    detached: true,
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  const exited = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, name) => resolve(name ?? `exit code ${code}`));
  });
  const identity = identifyProcess(child.pid ?? 0);
  living.set(identity, spec.stopSignal);
  void exited.then(() => living.delete(identity));
  writePrivate(pidFile(dataDir, spec.name), JSON.stringify(identity));
  return { identity, exited };
};

// Undefined when the server is ready, else the reason why it is not.
const waitUntilReady = async (spec: ServerSpec, port: number, child: Child, stopping?: AbortSignal) => {
  let failure: string | undefined;
  void child.exited.then((reason) => (failure = reason));
  const isReady = async () => {
    try {
      await spec.probe(port);
      return true;
    } catch {
      return false;
    }
  };
  for (const until = Date.now() + READY_TIMEOUT_MS; Date.now() < until && !stopping?.aborted; await sleep(25)) {
    if (failure !== undefined) return failure;
    if (await isReady()) return undefined;
  }
  await endProcess(child.identity, "SIGKILL", STOP_TIMEOUT_MS);
  return `not ready after ${READY_TIMEOUT_MS / 1_000} s`;
};

const startFirst = async (dataDir: string, spec: ServerSpec) => {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    const child = await launch(dataDir, spec, port);
    const failure = await waitUntilReady(spec, port, child);
    if (failure === undefined) return { port, child };
    if (attempt === MAX_START_ATTEMPTS)
      throw new Error(`${spec.name} does not start (${failure}): ${lastLogLines(dataDir, spec.name)}`);
  }
};

/** Starts the server on a free port and restarts it there with backoff, until `stop`. Rejects with a one-line error when the first start fails. */
export const supervise = async (
  dataDir: string,
  spec: ServerSpec,
  onLine: (line: string) => void,
): Promise<RunningServer> => {
  mkdirSync(join(dataDir, "run"), { recursive: true });
  await endOrphan(dataDir, spec, onLine);
  const first = await startFirst(dataDir, spec);
  const { port } = first;
  let child = first.child;
  const stopping = new AbortController();

  const restart = async (attempt: number): Promise<void> => {
    await sleep(Math.min(100 * 2 ** attempt, MAX_BACKOFF_MS), undefined, { signal: stopping.signal });
    child = await launch(dataDir, spec, port);
    const failure = await waitUntilReady(spec, port, child, stopping.signal);
    if (stopping.signal.aborted) return;
    if (failure === undefined) return onLine(`${spec.name} restarted as process ${child.identity.pid}`);
    onLine(`${spec.name} does not restart (${failure}), retrying: ${lastLogLines(dataDir, spec.name)}`);
    return restart(attempt + 1);
  };
  const restartUntilStopped = async () => {
    for (let deaths = 0; !stopping.signal.aborted; ) {
      const since = Date.now();
      const reason = await child.exited;
      if (stopping.signal.aborted) return;
      deaths = Date.now() - since > STABLE_MS ? 0 : deaths + 1;
      onLine(`${spec.name} (process ${child.identity.pid}) died (${reason}), restarting it`);
      await restart(deaths);
    }
  };
  const killHung = async () => {
    onLine(`${spec.name} (process ${child.identity.pid}) does not answer, ending it`);
    await endProcess(child.identity, "SIGKILL", STOP_TIMEOUT_MS);
  };
  const { alive } = spec;
  const watching = alive && watchAlive((signal) => alive(port, signal), killHung, stopping.signal);
  const restarting = restartUntilStopped().catch((error: unknown) => {
    if (!stopping.signal.aborted) onLine(`${spec.name} cannot be restarted: ${String(error)}`);
  });

  return {
    url: spec.url(port),
    stop: async () => {
      stopping.abort();
      await endProcess(child.identity, spec.stopSignal, STOP_TIMEOUT_MS);
      await Promise.all([restarting, watching]);
      // again, because a restart may have been under way
      await endProcess(child.identity, spec.stopSignal, STOP_TIMEOUT_MS);
      rmSync(pidFile(dataDir, spec.name), { force: true });
    },
  };
};
