import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const PRLIMIT = "/usr/bin/prlimit";
const LIMITS = { handles: "nofile", memory: "as" } as const;
export type LimitedResource = keyof typeof LIMITS;

/** How much of the resource a process uses. */
const usedBy: Record<LimitedResource, (pid: number) => number> = {
  handles: (pid) => readdirSync(`/proc/${pid}/fd`).length,
  memory: (pid) => Number(/^VmSize:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) * 1_024,
};

/** Runs prlimit as the process's own user, because others, even root, may lack the right. */
function prlimit(pid: number, ...args: string[]): string {
  const { uid, gid } = statSync(`/proc/${pid}`);
  const options = {
    stdio: "pipe",
    encoding: "utf8",
    cwd: "/",
    ...(uid !== process.getuid?.() && { uid, gid }),
  } as const;
  return execFileSync(PRLIMIT, ["--pid", String(pid), ...args], options).trim();
}

/** Whether a process runs. One that has ended, but whose parent has not noticed yet, does not (states Z and X). */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** Undefined if the process has ended meanwhile. */
function ifRunning<T>(pid: number, work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (isRunning(pid)) throw error;
    return undefined;
  }
}

/**
 * Allows a process and its children no more handles or memory than they have, for some time. Children started meanwhile inherit the
 * limit, so it is lifted for all at the end.
 */
export async function limitResource(find: () => Promise<number[]>, what: LimitedResource, ms: number): Promise<void> {
  const name = LIMITS[what];
  const pids = await find();
  const softLimit = (pid: number) => prlimit(pid, `--${name}`, "--noheadings", "--output", "SOFT");
  const before = pids.map((pid) => ifRunning(pid, () => softLimit(pid))).find((limit) => limit !== undefined);
  if (before === undefined) return;
  for (const pid of pids) ifRunning(pid, () => prlimit(pid, `--${name}=${usedBy[what](pid)}:`));
  await sleep(ms);
  // a killed server leaves processes behind that are no longer found as its children
  for (const pid of new Set([...pids, ...(await find())])) ifRunning(pid, () => prlimit(pid, `--${name}=${before}:`));
}
