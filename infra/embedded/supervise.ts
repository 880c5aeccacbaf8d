import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { endProcess } from "./end.ts";
import { readJson, writePrivate } from "./files.ts";
import { isAlive, markOf, signal, type Mark } from "./mark.ts";
import { freePort } from "./port.ts";
import type { Service } from "./service.ts";

export type Running = { url: string; stop: () => Promise<void> };
type Child = { process: ChildProcess; mark: Mark; gone: Promise<string> };
/** Every child that lives, and the signal that asks it to stop. */
const living = new Map<Mark, NodeJS.Signals>();
const graceMs = 15_000;
const firstReadyMs = 60_000;

const pidFile = (dataDir: string, name: string) => join(dataDir, "run", `${name}.pid`);
const logFile = (dataDir: string, name: string) => join(dataDir, "run", `${name}.log`);
const lastWords = (path: string) => readFileSync(path, "utf8").trim().split("\n").slice(-3).join(" | ").slice(-400);

/** Asks every child to stop, at once and without waiting: for a process that is about to exit. */
export const signalAll = () => {
  for (const [mark, name] of living) if (isAlive(mark)) signal(mark.pid, name);
};

/** Ends the process that an earlier start left behind for this service, if there is one. */
const endOrphan = async (dataDir: string, service: Service, onLine: (line: string) => void) => {
  const left = readJson<Mark>(pidFile(dataDir, service.name));
  if (!left || !isAlive(left)) return;
  onLine(`Ending ${service.name} (process ${left.pid}), left over from an earlier start`);
  await endProcess(left, service.stopSignal, graceMs);
};

// Its own session, so that the terminal's Ctrl-C does not reach it; its own files for output, so that it outlives us without a broken pipe.
const launch = async (dataDir: string, service: Service, port: number): Promise<Child> => {
  await service.prepare?.(port);
  const { file, args, env, ...rest } = service.command(port);
  const log = openSync(logFile(dataDir, service.name), "w", 0o600);
  const { PATH, HOME, TZ } = process.env;
  const child = spawn(file, args, {
    ...rest,
    env: { PATH, HOME, TZ, ...env },
    detached: true,
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  const gone = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, name) => resolve(name ?? `exit code ${code}`));
  });
  const mark = markOf(child.pid ?? 0);
  living.set(mark, service.stopSignal);
  void gone.then(() => living.delete(mark));
  writePrivate(pidFile(dataDir, service.name), JSON.stringify(mark));
  return { process: child, mark, gone };
};

// Resolves to undefined when the server answers, else to why it does not.
const becomesReady = async (service: Service, port: number, child: Child, ending?: AbortSignal) => {
  let death: string | undefined;
  void child.gone.then((reason) => (death = reason));
  for (const until = Date.now() + firstReadyMs; Date.now() < until && !ending?.aborted; await sleep(25)) {
    if (death !== undefined) return death;
    if (
      await service.probe(port).then(
        () => true,
        () => false,
      )
    )
      return undefined;
  }
  await endProcess(child.mark, "SIGKILL", graceMs);
  return `not ready after ${firstReadyMs / 1_000} s`;
};

// The port can be lost to another process between the look and the start, hence three tries.
const firstStart = async (dataDir: string, service: Service) => {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    const child = await launch(dataDir, service, port);
    const failure = await becomesReady(service, port, child);
    if (failure === undefined) return { port, child };
    if (attempt === 3)
      throw new Error(`${service.name} does not start (${failure}): ${lastWords(logFile(dataDir, service.name))}`);
  }
};

/** Starts the service on a free port and keeps it alive there, restarting with backoff, until `stop`. Rejects with one line when it does not start at all. */
export const supervise = async (
  dataDir: string,
  service: Service,
  onLine: (line: string) => void,
): Promise<Running> => {
  mkdirSync(join(dataDir, "run"), { recursive: true });
  await endOrphan(dataDir, service, onLine);
  const first = await firstStart(dataDir, service);
  const { port } = first;
  let child = first.child;
  const ending = new AbortController();

  const restart = async (attempt: number): Promise<void> => {
    const wait = Math.min(100 * 2 ** attempt, 10_000);
    await sleep(wait, undefined, { signal: ending.signal });
    child = await launch(dataDir, service, port);
    const failure = await becomesReady(service, port, child, ending.signal);
    if (ending.signal.aborted) return;
    if (failure === undefined) return onLine(`${service.name} is back as process ${child.mark.pid}`);
    onLine(`${service.name} does not come back yet (${failure}): ${lastWords(logFile(dataDir, service.name))}`);
    return restart(attempt + 1);
  };
  const watch = async () => {
    for (let deaths = 0; !ending.signal.aborted; ) {
      const since = Date.now();
      const reason = await child.gone;
      if (ending.signal.aborted) return;
      deaths = Date.now() - since > 30_000 ? 0 : deaths + 1;
      onLine(`${service.name} (process ${child.mark.pid}) died (${reason}); starting it again`);
      await restart(deaths);
    }
  };
  const watching = watch().catch((error: unknown) => {
    if (!ending.signal.aborted) onLine(`${service.name} cannot be started again: ${String(error)}`);
  });

  return {
    url: service.url(port),
    stop: async () => {
      ending.abort();
      await endProcess(child.mark, service.stopSignal, graceMs);
      await watching;
      await endProcess(child.mark, service.stopSignal, graceMs);
      rmSync(pidFile(dataDir, service.name), { force: true });
    },
  };
};
