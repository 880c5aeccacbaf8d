import type { Effort, Measuring } from "../tools/effort.ts";
import { measureCpu } from "../tools/cpuTime.ts";
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
  /** Milliseconds of processor time that a run takes of all processes, PostgreSQL among them, one figure for each round. */
  cpuMs: number[];
}

/** Runs every load on every contender in turn. */
export const runRounds = async (contenders: Contender[], effort: Effort): Promise<LoadMeasurements[]> => {
  const { rounds, seconds } = MEASURING[effort];
  // The service's processes contain PostgreSQL, which works for both. What else of them runs meanwhile is idle.
  const pids = contenders.map(({ child }) => child.pid);
  const measured = CASES.flatMap((one) =>
    contenders.map(({ name }): LoadMeasurements => ({ ...one, contender: name, loads: [], cpuMs: [] })),
  );
  // Round 0 warms up.
  for (let round = 0; round <= rounds; round++)
    for (const { steps, inFlight } of CASES)
      for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
        progress(`round ${round} of ${rounds}: runs of ${steps} steps, ${inFlight} in flight, ${contender.name}`);
        const { result, cpuMs } = await measureCpu(pids, () => contender.load(steps, inFlight, seconds));
        if (round === 0) continue;
        const entry = findEntry(measured, contender.name, steps, inFlight);
        entry.loads.push(result);
        entry.cpuMs.push(cpuMs / result.ms.length);
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

export const toRows = (measured: LoadMeasurements[]): (string | number)[][] =>
  measured.map(({ contender, steps, inFlight, loads, cpuMs }) => {
    const ms = loads.flatMap((load) => load.ms);
    const runs = median(loads.map(({ perSecond }) => perSecond));
    return [
      contender,
      String(steps),
      String(inFlight),
      runs,
      runs * steps,
      median(cpuMs),
      median(ms),
      percentile(ms, 0.99),
    ];
  });
