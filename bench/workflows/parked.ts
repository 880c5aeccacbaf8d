import { setTimeout as sleep } from "node:timers/promises";
import { progress } from "../tools/progress.ts";
import type { Party } from "./party.ts";

const FEW = 300;
export const MANY = 100_000;
const AT_ONCE = 2_000;
const DECISIONS = 100;
/** Between decisions, so that each meets a party at rest. */
const REST_MS = 20;

/** How soon runs that wait for a person go on, beside few others and beside many. */
export interface Parked {
  party: Party["name"];
  /** Milliseconds from the decision until the next step began. */
  few: number[];
  many: number[];
  /** Seconds until all the runs were there and waited. */
  seconds: number;
  /** MiB that the party's processes hold, with few and with many. */
  memory: (number | null)[];
}

const decideSome = async (parties: Party[], into: (party: number) => number[]): Promise<void> => {
  for (let n = -DECISIONS / 10; n < DECISIONS; n++)
    for (const [at, party] of parties.entries()) {
      const ms = await party.decide();
      // the first ones warm up
      if (n >= 0) into(at).push(ms);
      await sleep(REST_MS);
    }
};

const fill = async (party: Party, from: number, to: number): Promise<number> => {
  const start = performance.now();
  for (let have = from; have < to; have += AT_ONCE) {
    progress(`parking ${to} runs, ${party.name}: ${have}`);
    await party.park(Math.min(AT_ONCE, to - have));
  }
  return (performance.now() - start) / 1_000;
};

/** Every party holds its runs while decisions are measured, by turns. */
export const parkRuns = async (parties: Party[]): Promise<Parked[]> => {
  const parked = parties.map(({ name }): Parked => ({ party: name, few: [], many: [], seconds: 0, memory: [] }));
  for (const party of parties) await fill(party, 0, FEW);
  progress(`decisions beside ${FEW} parked runs`);
  await decideSome(parties, (at) => parked[at]!.few);
  for (const [at, party] of parties.entries()) {
    parked[at]!.memory.push(party.child.memory());
    parked[at]!.seconds = await fill(party, FEW, MANY);
    parked[at]!.memory.push(party.child.memory());
  }
  progress(`decisions beside ${MANY} parked runs`);
  await decideSome(parties, (at) => parked[at]!.many);
  return parked;
};
