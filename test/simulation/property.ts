import fc from "fast-check";
import { plans } from "./plan.ts";
import { simulate, type PlantedFlaws } from "./run.ts";

/*
 * A failing plan is printed with its seed and path, made as small as possible. To run it again:
 * SIMULATION_SEED=<seed> SIMULATION_PATH=<path>; SIMULATION_RUNS=10000 searches longer.
 */
const { SIMULATION_SEED, SIMULATION_PATH, SIMULATION_RUNS } = process.env;

/** A run of any plan has no finding that matches `relevant`. */
export const noFinding = (planted: PlantedFlaws, relevant: RegExp) =>
  fc.asyncProperty(plans, async (plan) => {
    const { findings, trace } = await simulate(plan, planted);
    const found = findings.filter((finding) => relevant.test(finding));
    if (found.length > 0) throw new Error([...found, ...trace].join("\n"));
  });

/** Simulates `runs` random plans without a planted bug, and fails at the first finding. */
export const assertNoFinding = (runs: number, seed: number) =>
  fc.assert(noFinding({}, /./), {
    seed: Number(SIMULATION_SEED ?? seed),
    numRuns: Number(SIMULATION_RUNS ?? runs),
    ...(SIMULATION_PATH && { path: SIMULATION_PATH }),
  });
