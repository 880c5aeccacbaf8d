import { progress } from "../tools/progress.ts";
import { median, percentile } from "../tools/stats.ts";
import type { Load } from "./load.ts";
import type { Party } from "./party.ts";

const ROUNDS = 5;
const SECONDS = 3;

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

export interface Measured extends Case {
  party: Party["name"];
  /** One of each round. */
  loads: Load[];
}

/** Every load on every party, by turns. */
export const runRounds = async (parties: Party[]): Promise<Measured[]> => {
  const measured = CASES.flatMap((one) => parties.map(({ name }): Measured => ({ ...one, party: name, loads: [] })));
  // Round 0 warms up.
  for (let round = 0; round <= ROUNDS; round++)
    for (const { steps, inFlight } of CASES)
      for (const party of round % 2 === 0 ? parties : parties.toReversed()) {
        progress(`round ${round} of ${ROUNDS}: runs of ${steps} steps, ${inFlight} in flight, ${party.name}`);
        const load = await party.load(steps, inFlight, SECONDS);
        if (round > 0) entryOf(measured, party.name, steps, inFlight).loads.push(load);
      }
  return measured;
};

export const entryOf = (measured: Measured[], party: Party["name"], steps: number, inFlight: number): Measured => {
  const entry = measured.find((one) => one.party === party && one.steps === steps && one.inFlight === inFlight);
  if (!entry) throw new Error(`${party} was not measured with ${steps} steps and ${inFlight} in flight`);
  return entry;
};

/** Runs a second of ours to DBOS's, the median of the rounds. */
export const ratioOf = (measured: Measured[], { steps, inFlight }: Case): number => {
  const [ours, theirs] = (["service", "dbos"] as const).map((party) => entryOf(measured, party, steps, inFlight).loads);
  return median(ours!.map(({ perSecond }, round) => perSecond / theirs![round]!.perSecond));
};

export const rowsOf = (measured: Measured[]): (string | number)[][] =>
  measured.map(({ party, steps, inFlight, loads }) => {
    const ms = loads.flatMap((load) => load.ms);
    const runs = median(loads.map(({ perSecond }) => perSecond));
    return [party, String(steps), String(inFlight), runs, runs * steps, median(ms), percentile(ms, 0.99)];
  });
