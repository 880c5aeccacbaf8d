import type { Verdict } from "../tools/report.ts";
import { median } from "../tools/stats.ts";

export type MemoryByRole = Record<string, number>;

/** Memory of the processes at one moment, in MiB. */
export interface Memory {
  /** Resident memory of each process and its children. */
  resident: MemoryByRole;
  /** Memory in use in each process after a garbage collection. */
  live: MemoryByRole;
}

const least = (values: number[]): number => Math.min(...values);

/** The largest growth of a process from the second third of nine samples to the last. The first third is warm-up. */
const growth = (samples: Memory[], kind: keyof Memory, middle: (values: number[]) => number): number => {
  const of = (some: Memory[], role: string): number => middle(some.map((sample) => sample[kind][role]!));
  const roles = Object.keys(samples[0]![kind]);
  return Math.max(...roles.map((role) => of(samples.slice(-3), role) / of(samples.slice(2, 5), role)));
};

/** Judges from nine samples at equal intervals whether memory stayed flat. */
export const judgeMemory = (samples: Memory[]): Verdict[] => [
  // reading processes start and end, and Node allocates memory in steps, so only large growth is significant
  { name: "resident_growth", value: growth(samples, "resident", median), floor: 1.4, aim: 1.1, better: "less" },
  // work in progress uses memory as well, so the minimum counts
  { name: "growth_in_use", value: growth(samples, "live", least), floor: 1.2, aim: 1.05, better: "less" },
];
