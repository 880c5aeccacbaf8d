import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** A process told apart from a later one that was given the same pid. */
export type Mark = { pid: number; started: string };

const bootId = () => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();

// Field 22 of /proc/<pid>/stat, counted behind the command's closing parenthesis; field 3 is the state.
const startedOnLinux = (pid: number) => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return fields[0] === "Z" || fields[0] === "X" ? undefined : `${bootId()} ${fields[19]}`;
};

/** When the process with this pid started, in words that only that process gives; undefined when there is none (a zombie counts as none). */
export const startedOf = (pid: number): string | undefined => {
  try {
    if (process.platform === "linux") return startedOnLinux(pid);
    const [state, ...started] = execFileSync("ps", ["-o", "state=,lstart=", "-p", String(pid)], { encoding: "utf8" })
      .trim()
      .split(/\s+/);
    return state?.startsWith("Z") ? undefined : started.join(" ") || undefined;
  } catch {
    return undefined;
  }
};

export const markOf = (pid: number): Mark => ({ pid, started: startedOf(pid) ?? "" });

export const isAlive = (mark: Mark) => mark.started !== "" && startedOf(mark.pid) === mark.started;

/** Sends the signal to the process, or with `group` to its whole process group; quiet when it is gone. */
export const signal = (pid: number, name: NodeJS.Signals, group = false) => {
  try {
    process.kill(group ? -pid : pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
};
