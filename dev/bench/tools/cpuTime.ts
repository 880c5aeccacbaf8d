import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

interface ProcessTimes {
  parent: number;
  /** Clock ticks of the process itself. */
  own: number;
  /** Clock ticks of its children that have ended. */
  ended: number;
}

const readTimes = (pid: number): ProcessTimes | undefined => {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ")
      .map(Number);
    return { parent: fields[1]!, own: fields[11]! + fields[12]!, ended: fields[13]! + fields[14]! };
  } catch {
    return undefined;
  }
};

let ticksPerSecond: number | undefined;

/** Nanoseconds that the living threads of a process have run; 0 if the kernel does not report them. */
const threadTimeNs = (pid: number): number => {
  try {
    return readdirSync(`/proc/${pid}/task`)
      .map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]))
      .reduce((sum, one) => sum + one, 0);
  } catch {
    return 0;
  }
};

/**
 * Milliseconds of processor time used by these processes and their descendants; NaN without /proc. Unlike elapsed time, it hardly
 * depends on the machine's load. If threads have ended, only clock ticks of 10 ms include their time; otherwise the threads' own
 * clocks are more precise.
 */
export const cpuTimeMs = (pids: number[]): number => {
  const all = new Map<number, ProcessTimes>();
  try {
    for (const name of readdirSync("/proc")) {
      const times = /^\d+$/.test(name) ? readTimes(Number(name)) : undefined;
      if (times) all.set(Number(name), times);
    }
  } catch {
    return Number.NaN;
  }
  ticksPerSecond ??= Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));
  const isBelow = (pid: number): boolean => pids.includes(pid) || (all.has(pid) && isBelow(all.get(pid)!.parent));
  const tickMs = 1000 / ticksPerSecond;
  return [...all]
    .filter(([pid]) => isBelow(pid))
    .map(([pid, { own, ended }]) => ended * tickMs + Math.max(own * tickMs, threadTimeNs(pid) / 1e6))
    .reduce((sum, one) => sum + one, 0);
};

/** The result of the work, and the processor time that these processes and their descendants used meanwhile. */
export const measureCpu = async <T>(pids: number[], work: () => Promise<T>): Promise<{ result: T; cpuMs: number }> => {
  const before = cpuTimeMs(pids);
  const result = await work();
  return { result, cpuMs: cpuTimeMs(pids) - before };
};
