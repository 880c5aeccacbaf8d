import { readFileSync } from "node:fs";

const PAGE_BYTES = 4_096;

/** Resident memory of a process in bytes; 0 if there is no such process, or no /proc (not Linux). */
export const residentBytes = (pid: number): number => {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * PAGE_BYTES;
  } catch {
    return 0;
  }
};
