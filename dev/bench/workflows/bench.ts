import type { Effort } from "../tools/effort.ts";
import { untilInterrupted } from "../tools/untilInterrupted.ts";
import { progress } from "../tools/progress.ts";
import type { Report, Verdict } from "../tools/report.ts";
import { median, medianRatio, percentile, toSignificant } from "../tools/stats.ts";
import { startDbos } from "./dbos.ts";
import { type StepGaps, measureLongRuns, STEP_POSITIONS } from "./longRuns.ts";
import { DBOS_DATABASE, startOwn } from "./own.ts";
import { MANY_PARKED_RUNS, type ParkedMeasurements, parkRuns } from "./parkedRuns.ts";
import type { Contender } from "./contender.ts";
import { measureSchedules, SCHEDULES } from "./schedules.ts";
import { CASES, findEntry, type LoadMeasurements, toRows, runRounds } from "./rounds.ts";

/** Durable workflows: this service, over HTTP and its bus, and DBOS, as a library in the process that starts the runs, on one PostgreSQL server. */
export const benchWorkflows = async (effort: Effort): Promise<Report> => {
  const contenders: Contender[] = [];
  const measure = async (): Promise<Report> => {
    progress("starting this service");
    const own = await startOwn();
    contenders.push(own);
    progress("starting DBOS");
    contenders.push(await startDbos(own.databaseUrl(DBOS_DATABASE)));
    const measured = await runRounds(contenders, effort);
    const startDelays = await measureSchedules(own);
    if (effort === "quick") return report({ measured, startDelays, longRuns: [], parked: [] });
    const longRuns = await measureLongRuns(contenders);
    const parked = await parkRuns(contenders, own.databaseBytes);
    return report({ measured, startDelays, longRuns, parked });
  };
  try {
    return await untilInterrupted(measure);
  } finally {
    progress("stopping");
    for (const contender of contenders.reverse()) await contender.stop();
  }
};

const findFor = <T extends { contender: Contender["name"] }>(rows: T[], name: Contender["name"]): T => {
  const row = rows.find(({ contender }) => contender === name);
  if (!row) throw new Error(`${name} was not measured`);
  return row;
};

/** How the floors are set: docs/benchmarks.md. */
const FLOORS: Record<(typeof CASES)[number]["name"], { throughput: number; processor: number }> = {
  one_step_runs: { throughput: 0.3, processor: 4 },
  runs_of_100_steps: { throughput: 0.8, processor: 1.5 },
  child_runs: { throughput: 0.4, processor: 5 },
  events: { throughput: 0.3, processor: 5 },
};

interface Measurements {
  measured: LoadMeasurements[];
  /** Milliseconds from the second in which schedules are due. */
  startDelays: number[];
  longRuns: StepGaps[];
  parked: ParkedMeasurements[];
}

const verdicts = ({ measured, startDelays, longRuns, parked }: Measurements): Verdict[] => {
  const ratios = CASES.flatMap(({ name: runs, inFlight }): Verdict[] => {
    const find = (name: Contender["name"]): LoadMeasurements => findEntry(measured, name, runs, inFlight);
    const perSecond = (name: Contender["name"]): number[] => find(name).loads.map((load) => load.perSecond);
    const { throughput, processor } = FLOORS[runs];
    return [
      {
        name: `${runs}_of_dbos_at_${inFlight}`,
        value: medianRatio(perSecond("service"), perSecond("dbos")),
        floor: throughput,
        aim: 1,
        better: "more",
      },
      {
        name: `processor_of_${runs}_of_dbos_at_${inFlight}`,
        value: medianRatio(find("service").cpuMs, find("dbos").cpuMs),
        floor: processor,
        aim: 1,
        better: "less",
      },
    ];
  });
  const timeRatio = (name: string, ours: number, theirs: number): Verdict => {
    return { name, value: ours / theirs, floor: 2, aim: 1, better: "less" };
  };
  const lastGap = (name: Contender["name"]) => findFor(longRuns, name).gaps.at(-1)!;
  const decision = (name: Contender["name"]) => median(findFor(parked, name).many);
  const started = Math.max(...startDelays) / 1_000;
  const schedules: Verdict = {
    name: "last_of_1000_due_schedules_s",
    value: started,
    floor: 50,
    aim: 2,
    better: "less",
  };
  if (longRuns.length === 0) return [...ratios, schedules];
  return [
    ...ratios,
    schedules,
    {
      name: "stored_kb_of_a_parked_run",
      value: findFor(parked, "service").storedKb,
      floor: 6.5,
      aim: 3,
      better: "less",
    },
    timeRatio("step_1000_of_dbos", lastGap("service"), lastGap("dbos")),
    timeRatio("decision_of_dbos_with_100000_parked", decision("service"), decision("dbos")),
  ];
};

const report = ({ measured, startDelays, longRuns, parked }: Measurements): Report => ({
  bench: "workflows",
  tables: [
    {
      title:
        "Runs of steps that do nothing, of a child run with one such step, and of a wait for an event (milliseconds from the start of a run until its end is received; processor: time of all processes for one run)",
      head: ["", "a run is", "in flight", "runs per second", "steps per second", "processor", "p50", "p99"],
      rows: toRows(measured),
    },
    {
      title: `From the second in which ${SCHEDULES} schedules are due until their runs are recorded (milliseconds)`,
      head: ["", "p50", "p99", "last"],
      rows: [["service", median(startDelays), percentile(startDelays, 0.99), Math.max(...startDelays)]],
    },
    {
      title: "From one step to the next in a long run (milliseconds)",
      head: ["", ...STEP_POSITIONS.map((step) => `at step ${step}`)],
      rows: longRuns.map(({ contender, gaps }) => [contender, ...gaps]),
    },
    {
      title: "From a decision to the next step, with few and with many parked runs (milliseconds)",
      head: ["", "parked", "p50", "p95", "p99", "memory (MiB)", "stored of a run (kB)"],
      rows: parked.flatMap(({ contender, few, many, memory, storedKb }) =>
        [few, many].map((ms, n) => [
          contender,
          n === 0 ? "few" : MANY_PARKED_RUNS,
          median(ms),
          percentile(ms, 0.95),
          percentile(ms, 0.99),
          memory[n] ?? null,
          n === 0 ? null : storedKb,
        ]),
      ),
    },
  ],
  verdicts: verdicts({ measured, startDelays, longRuns, parked }),
  figures: {
    steps: Object.fromEntries(longRuns.map(({ contender, gaps }) => [contender, gaps.map(toSignificant)])),
    decision_p95_ms: Object.fromEntries(
      parked.map(({ contender, many }) => [contender, toSignificant(percentile(many, 0.95))]),
    ),
    parking_s: Object.fromEntries(parked.map(({ contender, seconds }) => [contender, toSignificant(seconds)])),
  },
});
