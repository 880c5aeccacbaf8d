import type { Effort, Measuring } from "../tools/effort.ts";
import { progress } from "../tools/progress.ts";
import { median, percentile } from "../tools/stats.ts";
import type { Load } from "./load.ts";
import type { Contender } from "./contender.ts";

const MEASURING: Record<Effort, Measuring> = { full: { rounds: 5, seconds: 3 }, quick: { rounds: 3, seconds: 1.5 } };

interface Case {
  steps: number;
  inFlight: number;
}
export const CASES: Case[] = [
  { steps: 1, inFlight: 1 },
  { steps: 1, inFlight: 16 },
  { steps: 100, inFlight: 1 },
  { steps: 100, inFlight: 16 },
];

export interface LoadMeasurements extends Case {
  contender: Contender["name"];
  /** One for each round. */
  loads: Load[];
}

/** Runs every load on every contender in turn. */
export const runRounds = async (contenders: Contender[], effort: Effort): Promise<LoadMeasurements[]> => {
  const { rounds, seconds } = MEASURING[effort];
  const measured = CASES.flatMap((one) =>
    contenders.map(({ name }): LoadMeasurements => ({ ...one, contender: name, loads: [] })),
  );
  // Round 0 warms up.
  for (let round = 0; round <= rounds; round++)
    for (const { steps, inFlight } of CASES)
      for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
        progress(`round ${round} of ${rounds}: runs of ${steps} steps, ${inFlight} in flight, ${contender.name}`);
        const load = await contender.load(steps, inFlight, seconds);
        if (round > 0) findEntry(measured, contender.name, steps, inFlight).loads.push(load);
      }
  return measured;
};

export const findEntry = (
  measured: LoadMeasurements[],
  contender: Contender["name"],
  steps: number,
  inFlight: number,
): LoadMeasurements => {
  const entry = measured.find((one) => one.contender === contender && one.steps === steps && one.inFlight === inFlight);
  if (!entry) throw new Error(`${contender} was not measured with ${steps} steps and ${inFlight} in flight`);
  return entry;
};

/** Our runs per second divided by DBOS's: the median of the ratios of each round. */
export const throughputRatio = (measured: LoadMeasurements[], { steps, inFlight }: Case): number => {
  const [ours, theirs] = (["service", "dbos"] as const).map(
    (contender) => findEntry(measured, contender, steps, inFlight).loads,
  );
  return median(ours!.map(({ perSecond }, round) => perSecond / theirs![round]!.perSecond));
};

export const toRows = (measured: LoadMeasurements[]): (string | number)[][] =>
  measured.map(({ contender, steps, inFlight, loads }) => {
    const ms = loads.flatMap((load) => load.ms);
    const runs = median(loads.map(({ perSecond }) => perSecond));
    return [contender, String(steps), String(inFlight), runs, runs * steps, median(ms), percentile(ms, 0.99)];
  });
