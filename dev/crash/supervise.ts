import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { RoleName } from "./faults/surroundings.ts";

const RESTART_MS = 250;
const STOP_MS = 25_000;

/** `all`: a process with every role, as `npm start` runs it. */
export type ProcessRole = RoleName | "all";

interface ProcessOptions {
  role: ProcessRole;
  name: string;
  /** Arguments of the next start. */
  args: () => string[];
  env: Record<string, string>;
  log: string;
}

/** A process that is restarted whenever it ends, as an init system would do. */
export interface SupervisedProcess extends Pick<ProcessOptions, "role" | "name"> {
  pid(): number | undefined;
  /** Signals the current process; false when none runs. */
  signal(name: NodeJS.Signals): boolean;
  /** Sets `FAIL_AT` for the next start only. */
  failNext(point: string): void;
  /** Number of exits so far. */
  deaths(): number;
  /** Asks the process to end. Resolves when the next one has reported that it is running. */
  restart(withinMs: number): Promise<void>;
  /** Resolves when the current process has reported that it is running. */
  ready(withinMs: number): Promise<void>;
  stop(): Promise<void>;
}

/** The line that a process prints once it is running. */
const readyLine = (role: ProcessRole): string => (role === "all" ? "/readyz" : `${role} is running`);

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

export function supervise({ role, name, args, env, log }: ProcessOptions): SupervisedProcess {
  let child: ChildProcess | undefined;
  let stopping = false;
  let failAt: string | undefined;
  let [starts, deaths] = [0, 0];
  let begins = 0;

  const run = async (): Promise<void> => {
    while (!stopping) {
      begins = sizeOf(log);
      starts += 1;
      const out = openSync(log, "a");
      child = spawn(process.execPath, args(), {
        env: { ...env, ...(failAt && { FAIL_AT: failAt }) },
        stdio: ["ignore", out, out],
      });
      failAt = undefined;
      closeSync(out);
      await once(child, "exit");
      child = undefined;
      deaths += 1;
      if (!stopping) await sleep(RESTART_MS);
    }
  };
  const running = run();

  /** A process that was just killed may not have ended yet. */
  const isReady = () => child?.killed === false && readFileSync(log).subarray(begins).includes(readyLine(role));
  const waitUntil = async (isDone: () => boolean, withinMs: number): Promise<void> => {
    for (const until = Date.now() + withinMs; !isDone(); await sleep(50))
      if (Date.now() > until) throw new Error(`${name} is not ready after ${withinMs / 1000} s: see ${log}`);
  };

  return {
    role,
    name,
    pid: () => child?.pid,
    signal: (signal) => child?.kill(signal) ?? false,
    failNext: (point) => void (failAt = point),
    deaths: () => deaths,
    async restart(withinMs) {
      const before = starts;
      // a process that was just killed restarts by itself
      child?.kill("SIGTERM");
      await waitUntil(() => starts > before && isReady(), withinMs);
    },
    ready: (withinMs) => waitUntil(isReady, withinMs),
    async stop() {
      stopping = true;
      child?.kill("SIGCONT");
      child?.kill("SIGTERM");
      const late = setTimeout(() => child?.kill("SIGKILL"), STOP_MS);
      await running;
      clearTimeout(late);
    },
  };
}
