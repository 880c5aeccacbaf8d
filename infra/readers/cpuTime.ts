import { readFileSync } from "node:fs";

/** Linux counts CPU time in hundredths of a second, whatever its clock resolution. */
const TICK_MS = 10;

/** CPU time of a process in milliseconds; 0 if the system does not report it (not Linux) or the process is gone. */
export const cpuTimeMs = (pid: number): number => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // user and system time are fields 12 and 13 after the name, which may contain anything
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return 0;
  }
};
