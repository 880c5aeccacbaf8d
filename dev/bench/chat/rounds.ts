import type { Effort, BenchPlan } from "../tools/effort.ts";
import { measureCpu } from "../tools/cpuTime.ts";
import { progress } from "../tools/progress.ts";
import { median, percentile } from "../tools/stats.ts";
import { type Load, load } from "./load.ts";
import type { Contender } from "./contenders.ts";

const PLANS: Record<Effort, BenchPlan> = { full: { rounds: 5, seconds: 2 }, quick: { rounds: 3, seconds: 1 } };
/** Rounds before all code is compiled: a stream takes half as much processor time after some thousands of them. */
const WARM_ROUNDS: Record<Effort, number> = { full: 4, quick: 2 };
const KINDS: Omit<Load, "seconds">[] = [
  { connections: 1, stream: false },
  { connections: 1, stream: true },
  { connections: 32, stream: false },
  // Portkey waits 25 ms before the first chunk of a stream, so its processor is the limit only with this many connections.
  { connections: 128, stream: true },
];

export interface LoadMeasurements {
  name: string;
  connections: number;
  stream: boolean;
  /** One figure per round. */
  perSecond: number[];
  /** Milliseconds of processor time per turn in all processes of the contender, one figure per round. */
  cpuMs: number[];
  /** Milliseconds of all requests of all rounds. */
  totals: number[];
  firstByte: number[];
}

/** Runs every kind of load on every contender in turn, so that a slow phase of the machine affects all of them. */
export const runRounds = async (contenders: Contender[], effort: Effort): Promise<LoadMeasurements[]> => {
  const { rounds, seconds } = PLANS[effort];
  const measured = contenders.flatMap(({ target }) =>
    KINDS.map(
      (kind): LoadMeasurements => ({ name: target.name, ...kind, perSecond: [], cpuMs: [], totals: [], firstByte: [] }),
    ),
  );
  for (let round = 1 - WARM_ROUNDS[effort]; round <= rounds; round++) {
    for (const kind of KINDS) {
      for (const { target, child } of rotate(contenders, round + WARM_ROUNDS[effort])) {
        progress(`round ${round} of ${rounds}: ${target.name}, ${kind.connections} connections`);
        const { result, cpuMs } = await measureCpu([child.pid], () => load(target, { ...kind, seconds }));
        child.assertAlive();
        if (round <= 0) continue;
        const entry = findEntry(measured, { name: target.name, ...kind });
        entry.perSecond.push(result.perSecond);
        entry.cpuMs.push(cpuMs / result.answers.length);
        for (const { total, firstByte } of result.answers) {
          entry.totals.push(total);
          entry.firstByte.push(firstByte);
        }
      }
    }
  }
  return measured;
};

const rotate = <T>(items: T[], by: number): T[] => items.map((_, n) => items[(n + by) % items.length] as T);

export const findEntry = (
  measured: LoadMeasurements[],
  key: Pick<LoadMeasurements, "name" | "connections" | "stream">,
): LoadMeasurements => {
  const entry = measured.find(
    ({ name, connections, stream }) => name === key.name && connections === key.connections && stream === key.stream,
  );
  if (!entry) throw new Error(`${key.name} was not measured at ${key.connections}`);
  return entry;
};

/** One row per contender and kind of load. Added times are the difference from the provider alone. */
export const toRows = (measured: LoadMeasurements[]): (string | number | null)[][] =>
  measured
    .toSorted((a, b) => Number(a.stream) - Number(b.stream) || a.connections - b.connections)
    .map((entry) => {
      const direct = findEntry(measured, { ...entry, name: "direct" });
      const added = (share: number): number => percentile(entry.totals, share) - percentile(direct.totals, share);
      const isDirect = entry === direct;
      return [
        entry.name,
        entry.stream ? "streamed" : "buffered",
        entry.connections,
        median(entry.perSecond),
        median(entry.cpuMs),
        median(entry.totals),
        percentile(entry.totals, 0.99),
        isDirect ? null : added(0.5),
        isDirect ? null : added(0.99),
        entry.stream ? median(entry.firstByte) : null,
      ];
    });
