import type { ChildProcess } from "node:child_process";
import { residentBytes } from "../processes/processMemory.ts";
import { cpuTimeMs } from "./cpuTime.ts";

export interface ReadingLimits {
  /** CPU milliseconds for one file. Wall-clock time may be CLOCK_FACTOR times as long, because a busy machine shares its processors. */
  deadline_ms: number;
  /** Memory at which a reading process is killed, in bytes. */
  resident: number;
  /** How long an idle process is kept. */
  idle_ms: number;
}

const TOO_LONG = "Reading the file took too long.";
const TOO_LARGE = "The file is too large or too complex to be read.";
const CHECK_INTERVAL_MS = 250;
const CLOCK_FACTOR = 3;

/** Kills the process when it exceeds a limit. `reason` says why it died. A process that ended by itself usually ran out of memory. */
export const watchLimits = (process: ChildProcess, { deadline_ms, resident }: ReadingLimits) => {
  const pid = process.pid ?? 0;
  let cpuBefore: number | undefined;
  let reason = TOO_LARGE;
  const kill = (why: string): void => {
    reason = why;
    process.kill("SIGKILL");
  };
  const check = setInterval(() => {
    if (residentBytes(pid) > resident) return kill(TOO_LARGE);
    const cpu = cpuTimeMs(pid);
    // most files are read before the first check, and need no look at all
    if (cpu - (cpuBefore ??= cpu) > deadline_ms) kill(TOO_LONG);
  }, CHECK_INTERVAL_MS);
  const deadline = setTimeout(kill, CLOCK_FACTOR * deadline_ms, TOO_LONG);
  return {
    reason: () => reason,
    stop(): void {
      clearInterval(check);
      clearTimeout(deadline);
    },
  };
};
