import type { Verdict } from "../tools/report.ts";
import { median } from "../tools/stats.ts";

export type MemoryByRole = Record<string, number>;

/** The processes at one moment, in MiB. */
export interface Memory {
  /** Of each process with its children. */
  resident: MemoryByRole;
  /** What stays in each process after garbage was collected. */
  live: MemoryByRole;
}

const least = (values: number[]): number => Math.min(...values);

/** The largest growth of a process from the second third of nine samples to the last. The first ones are of the warm-up. */
const growth = (samples: Memory[], kind: keyof Memory, middle: (values: number[]) => number): number => {
  const of = (some: Memory[], role: string): number => middle(some.map((sample) => sample[kind][role]!));
  const roles = Object.keys(samples[0]![kind]);
  return Math.max(...roles.map((role) => of(samples.slice(-3), role) / of(samples.slice(2, 5), role)));
};

/** Whether memory stayed flat, from nine samples at equal distances. */
export const judgeMemory = (samples: Memory[]): Verdict[] => [
  // reading processes come and go, and Node takes memory in steps: only a large growth says something
  { name: "resident_growth", value: growth(samples, "resident", median), floor: 1.4, aim: 1.1, better: "less" },
  // work under way is in use too: what stays is the least
  { name: "growth_in_use", value: growth(samples, "live", least), floor: 1.2, aim: 1.05, better: "less" },
];
