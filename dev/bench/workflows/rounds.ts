import type { Effort, BenchPlan } from "../tools/effort.ts";
import { measureCpu } from "../tools/cpuTime.ts";
import { progress } from "../tools/progress.ts";
import { median, percentile } from "../tools/stats.ts";
import type { Load } from "./load.ts";
import type { Contender, Work } from "./contender.ts";

/** An even number, so that each contender is first equally often. */
const PLANS: Record<Effort, BenchPlan> = { full: { rounds: 4, seconds: 1.5 }, quick: { rounds: 2, seconds: 1.5 } };

interface Case {
  /** As in the names of verdicts. */
  name: "one_step_runs" | "runs_of_100_steps" | "child_runs" | "events";
  label: string;
  work: Work;
  inFlight: number;
}
const WORKS: Omit<Case, "inFlight">[] = [
  { name: "one_step_runs", label: "1 step", work: { kind: "steps", steps: 1 } },
  { name: "runs_of_100_steps", label: "100 steps", work: { kind: "steps", steps: 100 } },
  { name: "child_runs", label: "a child run", work: { kind: "child" } },
  { name: "events", label: "an event", work: { kind: "event" } },
];
export const CASES: Case[] = WORKS.flatMap((work) => [1, 16].map((inFlight) => ({ ...work, inFlight })));

export interface LoadMeasurements extends Case {
  contender: Contender["name"];
  /** One for each round. */
  loads: Load[];
  /** Milliseconds of processor time per run in all processes, including PostgreSQL, one figure per round. */
  cpuMs: number[];
}

/** Runs every load on every contender in turn. */
export const runRounds = async (contenders: Contender[], effort: Effort): Promise<LoadMeasurements[]> => {
  const { rounds, seconds } = PLANS[effort];
  // The service's processes include PostgreSQL, which serves both contenders. The others are idle meanwhile.
  const pids = contenders.map(({ child }) => child.pid);
  const measured = CASES.flatMap((one) =>
    contenders.map(({ name }): LoadMeasurements => ({ ...one, contender: name, loads: [], cpuMs: [] })),
  );
  // Round 0 warms up.
  for (let round = 0; round <= rounds; round++)
    for (const { name, label, work, inFlight } of CASES)
      for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
        progress(`round ${round} of ${rounds}: runs of ${label}, ${inFlight} in flight, ${contender.name}`);
        const { result, cpuMs } = await measureCpu(pids, () => contender.load(work, inFlight, seconds));
        if (round === 0) continue;
        const entry = findEntry(measured, contender.name, name, inFlight);
        entry.loads.push(result);
        entry.cpuMs.push(cpuMs / result.ms.length);
      }
  return measured;
};

export const findEntry = (
  measured: LoadMeasurements[],
  contender: Contender["name"],
  name: Case["name"],
  inFlight: number,
): LoadMeasurements => {
  const entry = measured.find((one) => one.contender === contender && one.name === name && one.inFlight === inFlight);
  if (!entry) throw new Error(`${contender} was not measured with ${name} and ${inFlight} in flight`);
  return entry;
};

export const toRows = (measured: LoadMeasurements[]): (string | number | null)[][] =>
  measured.map(({ contender, label, work, inFlight, loads, cpuMs }) => {
    const ms = loads.flatMap((load) => load.ms);
    const runs = median(loads.map(({ perSecond }) => perSecond));
    return [
      contender,
      label,
      String(inFlight),
      runs,
      work.kind === "steps" ? runs * work.steps : null,
      median(cpuMs),
      median(ms),
      percentile(ms, 0.99),
    ];
  });
