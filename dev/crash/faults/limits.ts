import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const PRLIMIT = "/usr/bin/prlimit";
const LIMITS = { handles: "nofile", memory: "as" } as const;
export type LimitedResource = keyof typeof LIMITS;

/** How much of it a process uses. */
const usedBy: Record<LimitedResource, (pid: number) => number> = {
  handles: (pid) => readdirSync(`/proc/${pid}/fd`).length,
  memory: (pid) => Number(/^VmSize:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) * 1_024,
};

/** As the process's own user: another one, even root, may lack the right. */
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

/** A process that has ended meanwhile has no limit any more. */
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
 * Gives a process and its children no more handles or memory than they have, for a while. Children that start meanwhile inherit
 * the limit, so it is taken from all at the end.
 */
export async function limitTo(find: () => Promise<number[]>, what: LimitedResource, ms: number): Promise<void> {
  const name = LIMITS[what];
  const pids = await find();
  const before = prlimit(pids[0]!, `--${name}`, "--noheadings", "--output", "SOFT");
  for (const pid of pids) ifAlive(pid, () => prlimit(pid, `--${name}=${usedBy[what](pid)}:`));
  await sleep(ms);
  for (const pid of await find()) ifAlive(pid, () => prlimit(pid, `--${name}=${before}:`));
}
