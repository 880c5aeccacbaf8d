import { setTimeout as sleep } from "node:timers/promises";
import { progress } from "../tools/progress.ts";
import type { Contender } from "./contender.ts";

const FEW = 300;
export const MANY_PARKED_RUNS = 100_000;
const BATCH_SIZE = 2_000;
const DECISIONS = 100;
/** Pause between decisions, so that a contender is idle when the next one arrives. */
const REST_MS = 20;

/** How soon a waiting run continues after its decision, with few other waiting runs and with many. */
export interface ParkedMeasurements {
  contender: Contender["name"];
  /** Milliseconds from the decision until the next step started. */
  few: number[];
  many: number[];
  /** Seconds until all runs waited. */
  seconds: number;
  /** MiB of the contender's processes, with few and with many waiting runs. */
  memory: (number | null)[];
  /** Kilobytes that the contender's database grew by for each run. */
  storedKb: number;
}

const measureDecisions = async (
  contenders: Contender[],
  samplesFor: (contender: number) => number[],
): Promise<void> => {
  for (let n = -DECISIONS / 10; n < DECISIONS; n++)
    for (const [at, contender] of contenders.entries()) {
      const ms = await contender.decide();
      // The first decisions warm up.
      if (n >= 0) samplesFor(at).push(ms);
      await sleep(REST_MS);
    }
};

const fill = async (contender: Contender, from: number, to: number): Promise<number> => {
  const start = performance.now();
  for (let parked = from; parked < to; parked += BATCH_SIZE) {
    progress(`parking ${to} runs, ${contender.name}: ${parked}`);
    await contender.park(Math.min(BATCH_SIZE, to - parked));
  }
  return (performance.now() - start) / 1_000;
};

/** Parks runs in every contender, then measures decisions, alternating between the contenders. */
export const parkRuns = async (
  contenders: Contender[],
  databaseBytes: (name: Contender["name"]) => Promise<number>,
): Promise<ParkedMeasurements[]> => {
  const parked = contenders.map(
    ({ name }): ParkedMeasurements => ({ contender: name, few: [], many: [], seconds: 0, memory: [], storedKb: 0 }),
  );
  for (const contender of contenders) await fill(contender, 0, FEW);
  progress(`decisions with ${FEW} parked runs`);
  await measureDecisions(contenders, (at) => parked[at]!.few);
  const fillUp = async (contender: Contender, entry: ParkedMeasurements): Promise<void> => {
    const before = await databaseBytes(contender.name);
    entry.memory.push(contender.child.memory());
    entry.seconds = await fill(contender, FEW, MANY_PARKED_RUNS);
    entry.memory.push(contender.child.memory());
    entry.storedKb = ((await databaseBytes(contender.name)) - before) / (MANY_PARKED_RUNS - FEW) / 1_000;
  };
  // at once: each has a process and a database of its own, and how long it takes is not compared
  await Promise.all(contenders.map((contender, at) => fillUp(contender, parked[at]!)));
  progress(`decisions with ${MANY_PARKED_RUNS} parked runs`);
  await measureDecisions(contenders, (at) => parked[at]!.many);
  return parked;
};
