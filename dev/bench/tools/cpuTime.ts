import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

interface ProcessTimes {
  parent: number;
  /** Clock ticks of the process itself. */
  own: number;
  /** Clock ticks of its children that have ended. */
  ended: number;
  /** When it started: another process may get its pid. */
  start: number;
}

const readTimes = (pid: number): ProcessTimes | undefined => {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ")
      .map(Number);
    return {
      parent: fields[1]!,
      own: fields[11]! + fields[12]!,
      ended: fields[13]! + fields[14]!,
      start: fields[19]!,
    };
  } catch {
    return undefined;
  }
};

let ticksPerSecond: number | undefined;

/** Nanoseconds that the living threads of a process have run, by thread; empty if the kernel does not report them. */
const readThreads = (pid: number): [thread: string, ns: number][] => {
  try {
    return readdirSync(`/proc/${pid}/task`).map((thread) => [
      thread,
      Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]),
    ]);
  } catch {
    return [];
  }
};

/** What the threads of each process had run when they were last read, so that the time of ended threads still counts. */
const knownThreads = new Map<string, Map<string, number>>();

/**
 * Milliseconds that a process has run. Its clock ticks of 10 ms include the threads that ended before the first look; later ones
 * count as they were last seen, because a sample of half a second would differ by some ticks.
 */
const ownMs = (pid: number, { own, start }: ProcessTimes, tickMs: number): number => {
  const id = `${pid} ${start}`;
  const living = readThreads(pid);
  let threads = knownThreads.get(id);
  if (!threads) {
    const ns = living.reduce((sum, [, one]) => sum + one, 0);
    threads = new Map([["ended before", living.length > 0 ? Math.max(0, own * tickMs * 1e6 - ns) : 0]]);
    knownThreads.set(id, threads);
  }
  for (const [thread, ns] of living) threads.set(thread, ns);
  const ns = [...threads.values()].reduce((sum, one) => sum + one, 0);
  return living.length > 0 ? ns / 1e6 : Math.max(own * tickMs, ns / 1e6);
};

const isNamed = (pid: number, text: string): boolean => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(text);
  } catch {
    return false;
  }
};

/**
 * Milliseconds of processor time used by these processes and their descendants; NaN without /proc. Unlike elapsed time, it hardly
 * depends on the machine's load. `except`: processes with this in their command line, and processes that have ended, are left out.
 */
export const cpuTimeMs = (pids: number[], except?: string): number => {
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
    .filter(([pid]) => isBelow(pid) && !(except && isNamed(pid, except)))
    .map(([pid, times]) => (except ? 0 : times.ended * tickMs) + ownMs(pid, times, tickMs))
    .reduce((sum, one) => sum + one, 0);
};

/** The result of the work, and the processor time that these processes and their descendants used meanwhile. */
export const measureCpu = async <T>(
  pids: number[],
  work: () => Promise<T>,
  except?: string,
): Promise<{ result: T; cpuMs: number }> => {
  const before = cpuTimeMs(pids, except);
  const result = await work();
  return { result, cpuMs: cpuTimeMs(pids, except) - before };
};
