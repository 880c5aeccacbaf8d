import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Distinguishes a process from a later one with the same pid. */
export type ProcessIdentity = { pid: number; started: string };

const bootId = () => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();

// Field 22 of /proc/<pid>/stat, counted after the command's closing parenthesis; field 3 is the state.
const readStartTimeOnLinux = (pid: number) => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return fields[0] === "Z" || fields[0] === "X" ? undefined : `${bootId()} ${fields[19]}`;
};

/** A text that no later process with this pid has: when this one started. Undefined if there is no process, or only a zombie. */
const readStartTime = (pid: number): string | undefined => {
  try {
    if (process.platform === "linux") return readStartTimeOnLinux(pid);
    const [state, ...started] = execFileSync("ps", ["-o", "state=,lstart=", "-p", String(pid)], { encoding: "utf8" })
      .trim()
      .split(/\s+/);
    return state?.startsWith("Z") ? undefined : started.join(" ") || undefined;
  } catch {
    return undefined;
  }
};

export const identifyProcess = (pid: number): ProcessIdentity => ({ pid, started: readStartTime(pid) ?? "" });

export const isAlive = (identity: ProcessIdentity) =>
  identity.started !== "" && readStartTime(identity.pid) === identity.started;

/** Sends a signal to the process, or with `group` to its process group. Does nothing if the process has ended. */
export const signal = (pid: number, name: NodeJS.Signals, group = false) => {
  try {
    process.kill(group ? -pid : pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
};
