import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Environment } from "../environment.ts";

const HOUR_MS = 3_600_000;

/** Separate clocks for the processes. */
export interface Clocks {
  /** Environment variables that the process must be started with. */
  settings(process: string): Environment;
  /** Sets how far a clock is ahead, while its process runs. */
  set(process: string, hours: number): void;
  /** Makes a clock jump for `ms` milliseconds. */
  shift(process: string, hours: number, ms: number): Promise<void>;
}

export function openClocks(folder: string): Clocks {
  mkdirSync(folder, { recursive: true });
  const fileOf = (process: string) => join(folder, process);
  const set = (process: string, hours: number) => {
    writeFileSync(`${fileOf(process)}.new`, String(hours * HOUR_MS));
    renameSync(`${fileOf(process)}.new`, fileOf(process));
  };
  return {
    settings(process) {
      set(process, 0);
      return { CRASH_CLOCK: fileOf(process) };
    },
    set,
    async shift(process, hours, ms) {
      set(process, hours);
      await sleep(ms);
      set(process, 0);
    },
  };
}
