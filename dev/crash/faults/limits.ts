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

/** Ignores processes that have ended meanwhile. */
function ifAlive(pid: number, work: () => void): void {
  try {
    work();
  } catch (error) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    throw error;
  }
}

/**
 * Allows a process and its children no more handles or memory than they have, for some time. Children started meanwhile inherit the
 * limit, so it is lifted for all at the end.
 */
export async function limitTo(find: () => Promise<number[]>, what: LimitedResource, ms: number): Promise<void> {
  const name = LIMITS[what];
  const pids = await find();
  const before = prlimit(pids[0]!, `--${name}`, "--noheadings", "--output", "SOFT");
  for (const pid of pids) ifAlive(pid, () => prlimit(pid, `--${name}=${usedBy[what](pid)}:`));
  await sleep(ms);
  for (const pid of await find()) ifAlive(pid, () => prlimit(pid, `--${name}=${before}:`));
}
