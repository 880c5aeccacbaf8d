import { orInterrupted } from "../tools/interrupted.ts";
import { progress } from "../tools/progress.ts";
import type { Report, Verdict } from "../tools/report.ts";
import { median, percentile, rounded } from "../tools/stats.ts";
import { startDbos } from "./dbos.ts";
import { type Growth, longRuns, PLACES } from "./growth.ts";
import { startOwn } from "./own.ts";
import { MANY, type Parked, parkRuns } from "./parked.ts";
import type { Party } from "./party.ts";
import { CASES, type Measured, ratioOf, rowsOf, runRounds } from "./rounds.ts";

/** Durable workflows: this service over HTTP and its bus, beside DBOS as a library in the process that asks it, on one PostgreSQL server. */
export const benchWorkflows = async (): Promise<Report> => {
  const parties: Party[] = [];
  const measure = async (): Promise<Report> => {
    progress("starting this service");
    const own = await startOwn();
    parties.push(own);
    progress("starting DBOS");
    parties.push(await startDbos(own.databaseUrl("bench_dbos")));
    return report(await runRounds(parties), await longRuns(parties), await parkRuns(parties));
  };
  try {
    return await orInterrupted(measure);
  } finally {
    progress("stopping");
    for (const party of parties.reverse()) await party.stop();
  }
};

const report = (measured: Measured[], growth: Growth[], parked: Parked[]): Report => {
  const gaps = (party: Party["name"]): number[] => growth.find((one) => one.party === party)?.gaps ?? [];
  const waits = (party: Party["name"]): number[] => parked.find((one) => one.party === party)?.many ?? [];
  const longest = PLACES.length - 1;
  const ratios = CASES.map((one): Verdict => {
    const what = one.steps === 1 ? "one_step_runs" : `runs_of_${one.steps}_steps`;
    return {
      name: `${what}_of_dbos_at_${one.inFlight}`,
      value: ratioOf(measured, one),
      floor: 0.5,
      aim: 1,
      better: "more",
    };
  });
  const times = (name: string, ours: number, theirs: number): Verdict => ({
    name,
    value: ours / theirs,
    floor: 2,
    aim: 1,
    better: "less",
  });
  return {
    bench: "workflows",
    tables: [
      {
        title: "Runs of steps that do nothing (milliseconds from a run's start until its end is heard)",
        head: ["", "steps", "in flight", "runs per second", "steps per second", "p50", "p99"],
        rows: rowsOf(measured),
      },
      {
        title: "From one step to the next in a long run (milliseconds)",
        head: ["", ...PLACES.map((place) => `at step ${place}`)],
        rows: growth.map(({ party, gaps }) => [party, ...gaps]),
      },
      {
        title: "From a decision to the next step (milliseconds) beside few and beside many parked runs",
        head: ["", "parked", "p50", "p95", "p99", "memory (MiB)"],
        rows: parked.flatMap(({ party, few, many, memory }) =>
          [few, many].map((ms, n) => [
            party,
            n === 0 ? "few" : MANY,
            median(ms),
            percentile(ms, 0.95),
            percentile(ms, 0.99),
            memory[n] ?? null,
          ]),
        ),
      },
    ],
    verdicts: [
      ...ratios,
      times("step_1000_of_dbos", gaps("service")[longest] ?? Number.NaN, gaps("dbos")[longest] ?? Number.NaN),
      times("decision_of_dbos_with_100000_parked", median(waits("service")), median(waits("dbos"))),
    ],
    figures: {
      steps: Object.fromEntries(growth.map(({ party, gaps }) => [party, gaps.map(rounded)])),
      decision_p95_ms: Object.fromEntries(parked.map(({ party, many }) => [party, rounded(percentile(many, 0.95))])),
      parking_s: Object.fromEntries(parked.map(({ party, seconds }) => [party, rounded(seconds)])),
    },
  };
};
