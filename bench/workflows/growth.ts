import { progress } from "../tools/progress.ts";
import { median } from "../tools/stats.ts";
import type { Party } from "./party.ts";

const RUNS = 5;
const STEPS = 1_000;
/** Time is taken over so many steps, because it is written down in whole milliseconds. */
const WINDOW = 20;
export const PLACES = [10, 100, 1_000];

/** Milliseconds from one step of a long run to the next, around its 10th, 100th and 1,000th. */
export interface Growth {
  party: Party["name"];
  gaps: number[];
}

const gapAt = (times: number[], place: number): number => {
  const to = Math.min(place + WINDOW / 2, times.length);
  const first = times[to - WINDOW];
  const last = times[to - 1];
  if (first === undefined || last === undefined) throw new Error(`a run of ${times.length} steps has no step ${place}`);
  return (last - first) / (WINDOW - 1);
};

/** One long run at a time, the parties by turns. */
export const longRuns = async (parties: Party[]): Promise<Growth[]> => {
  const runs = parties.map((): number[][] => []);
  for (let run = 1; run <= RUNS; run++)
    for (const [n, party] of parties.entries()) {
      progress(`runs of ${STEPS} steps: ${run} of ${RUNS}, ${party.name}`);
      const times = await party.stepTimes(STEPS);
      if (times.length !== STEPS) throw new Error(`${party.name} told of ${times.length} steps instead of ${STEPS}`);
      runs[n]?.push(times);
    }
  return parties.map(({ name }, n) => ({
    party: name,
    gaps: PLACES.map((place) => median(runs[n]!.map((times) => gapAt(times, place)))),
  }));
};
