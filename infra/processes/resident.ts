import { readFileSync } from "node:fs";

const PAGE = 4_096;

/** Bytes of memory that a process holds; 0 where the system does not say (no Linux), or no such process. */
export const residentBytes = (pid: number): number => {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * PAGE;
  } catch {
    return 0;
  }
};
