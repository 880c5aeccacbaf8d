import { progress } from "../tools/progress.ts";
import { median, percentile } from "../tools/stats.ts";
import { type Load, load } from "./load.ts";
import type { Party } from "./parties.ts";

const ROUNDS = 5;
const SECONDS = 2;
const KINDS: Omit<Load, "seconds">[] = [
  { connections: 1, stream: false },
  { connections: 1, stream: true },
  { connections: 32, stream: false },
  { connections: 32, stream: true },
];

export interface Measured {
  name: string;
  connections: number;
  stream: boolean;
  /** Of each round. */
  perSecond: number[];
  /** Milliseconds of every request of all rounds. */
  whole: number[];
  firstByte: number[];
}

/** Every kind of load on every party in turn, so that what slows the machine down for a while slows all of them. */
export const runRounds = async (parties: Party[]): Promise<Measured[]> => {
  const measured = parties.flatMap(({ target }) =>
    KINDS.map((kind): Measured => ({ name: target.name, ...kind, perSecond: [], whole: [], firstByte: [] })),
  );
  // Round 0 warms up: its figures are those of code that is not compiled yet.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const kind of KINDS) {
      for (const { target, child } of rotated(parties, round)) {
        progress(`round ${round} of ${ROUNDS}: ${target.name}, ${kind.connections} connections`);
        const { perSecond, asked } = await load(target, { ...kind, seconds: SECONDS });
        child.assertAlive();
        if (round === 0) continue;
        const entry = entryOf(measured, { name: target.name, ...kind });
        entry.perSecond.push(perSecond);
        for (const { whole, firstByte } of asked) {
          entry.whole.push(whole);
          entry.firstByte.push(firstByte);
        }
      }
    }
  }
  return measured;
};

const rotated = <T>(items: T[], by: number): T[] => items.map((_, n) => items[(n + by) % items.length] as T);

export const entryOf = (measured: Measured[], key: Pick<Measured, "name" | "connections" | "stream">): Measured => {
  const entry = measured.find(
    ({ name, connections, stream }) => name === key.name && connections === key.connections && stream === key.stream,
  );
  if (!entry) throw new Error(`${key.name} was not measured at ${key.connections}`);
  return entry;
};

/** One row for each party and kind of load; added times are over the direct ones. */
export const rowsOf = (measured: Measured[]): (string | number | null)[][] =>
  measured
    .toSorted((a, b) => Number(a.stream) - Number(b.stream) || a.connections - b.connections)
    .map((entry) => {
      const direct = entryOf(measured, { ...entry, name: "direct" });
      const added = (share: number): number => percentile(entry.whole, share) - percentile(direct.whole, share);
      const isDirect = entry === direct;
      return [
        entry.name,
        entry.stream ? "streamed" : "buffered",
        entry.connections,
        median(entry.perSecond),
        median(entry.whole),
        percentile(entry.whole, 0.99),
        isDirect ? null : added(0.5),
        isDirect ? null : added(0.99),
        entry.stream ? median(entry.firstByte) : null,
      ];
    });

/** The median of the rounds' own ratios: both sides of a ratio come from the same minute. */
export const ratioOf = (a: Measured, b: Measured): number =>
  median(a.perSecond.map((value, round) => value / (b.perSecond[round] ?? Number.NaN)));
