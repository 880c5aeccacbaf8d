import { readFileSync } from "node:fs";

/* Processes of this machine, as Linux shows them. */

/** The children of a process that its main thread started. */
export const childrenOf = (pid: number): number[] =>
  (readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").match(/\d+/g) ?? []).map(Number);

/** Whether the process still runs this command; NUL ends each of its words. */
export function isRunning(pid: number, command: RegExp): boolean {
  try {
    return command.test(readFileSync(`/proc/${pid}/cmdline`, "utf8"));
  } catch {
    return false;
  }
}

/** The memory of a process, in MiB. */
export const residentMb = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
