import { readFileSync } from "node:fs";

/** Linux counts processor time in hundredths of a second, whatever its clock does. */
const TICK_MS = 10;

/** Processor time that a process has used; 0 where the system does not say (no Linux), or no such process. */
export const processorMs = (pid: number): number => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // Behind the name, which may contain anything, user and system time are the 12th and 13th field.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return 0;
  }
};
