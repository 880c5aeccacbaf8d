import { progress } from "../tools/progress.ts";
import { median } from "../tools/stats.ts";
import type { Contender } from "./contender.ts";

const RUNS = 3;
const STEPS = 1_000;
/** A gap is the mean over this many steps, because the recorded times are whole milliseconds. */
const WINDOW = 20;
export const STEP_POSITIONS = [10, 100, 1_000];

/** Milliseconds from one step of a long run to the next, around its 10th, 100th and 1,000th step. */
export interface StepGaps {
  contender: Contender["name"];
  gaps: number[];
}

const gapAt = (times: number[], step: number): number => {
  const to = Math.min(step + WINDOW / 2, times.length);
  const first = times[to - WINDOW];
  const last = times[to - 1];
  if (first === undefined || last === undefined) throw new Error(`a run of ${times.length} steps has no step ${step}`);
  return (last - first) / (WINDOW - 1);
};

/** Executes one long run at a time, alternating between the contenders. */
export const measureLongRuns = async (contenders: Contender[]): Promise<StepGaps[]> => {
  const runs = contenders.map((): number[][] => []);
  for (let run = 1; run <= RUNS; run++)
    for (const [n, contender] of contenders.entries()) {
      progress(`runs of ${STEPS} steps: ${run} of ${RUNS}, ${contender.name}`);
      const times = await contender.stepTimes(STEPS);
      if (times.length !== STEPS)
        throw new Error(`${contender.name} recorded ${times.length} steps instead of ${STEPS}`);
      runs[n]?.push(times);
    }
  return contenders.map(({ name }, n) => ({
    contender: name,
    gaps: STEP_POSITIONS.map((step) => median(runs[n]!.map((times) => gapAt(times, step)))),
  }));
};
