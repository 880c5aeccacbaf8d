import type { CrashOptions } from "../arguments.ts";
import type { Finding } from "../check/finding.ts";
import { checkPlant, type Plant } from "./plant.ts";

/** Kills per run, for consecutive runs. The first run that finds the bug is the last. */
const STAGES = [8, 12, 20];

export type RunOnce = (options: CrashOptions) => Promise<Finding[]>;

interface Trial {
  plant: Plant;
  kills: number;
  /** The finding that identifies the bug; undefined if there was none. */
  caught: Finding | undefined;
}

const names = ({ rules }: Plant, { rule }: Finding): boolean =>
  rules.some((one) => rule === one || rule.startsWith(`${one} `));

async function tryPlant(plant: Plant, options: CrashOptions, runOnce: RunOnce): Promise<Trial> {
  let kills = 0;
  for (const stage of STAGES) {
    const left = Math.min(stage, options.kills - kills);
    if (left <= 0) break;
    const findings = await runOnce({ ...options, plant, kills: left, seed: options.seed + kills });
    kills += left;
    const caught = findings.find((finding) => names(plant, finding));
    if (caught) return { plant, kills, caught };
  }
  return { plant, kills, caught: undefined };
}

const rowOf = ({ plant, kills, caught }: Trial): string =>
  caught
    ? `plant ${plant.name}: caught within ${kills} kills: ${caught.kind} (${caught.rule}) ${caught.about}: ${caught.what}`
    : `plant ${plant.name}: NOT caught within ${kills} kills`;

/** Runs the harness with each planted bug until its checker finds it. Resolves with whether it found all. */
export async function tryPlants(plants: Plant[], options: CrashOptions, runOnce: RunOnce): Promise<boolean> {
  plants.forEach(checkPlant);
  const trials: Trial[] = [];
  for (const plant of plants) {
    const trial = await tryPlant(plant, options, runOnce);
    trials.push(trial);
    process.stdout.write(`${rowOf(trial)}\n`);
  }
  return trials.every(({ caught }) => caught);
}
