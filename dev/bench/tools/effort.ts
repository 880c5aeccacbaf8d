/** `quick` only shows whether a figure has fallen below its floor; `full` gives figures that can be compared. */
export type Effort = "full" | "quick";

/** How often and how long a bench measures. */
export interface BenchPlan {
  rounds: number;
  /** Duration of one measurement. */
  seconds: number;
}
