/** `quick` finds out whether a floor has fallen; the figures to compare come from `full`. */
export type Effort = "full" | "quick";

/** How often and how long a bench measures. */
export interface Measuring {
  rounds: number;
  /** Of one measurement. */
  seconds: number;
}
