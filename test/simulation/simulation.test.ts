import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { plans } from "./plan.ts";
import { plantedBugs } from "./planted.ts";
import { simulate, type Planted } from "./run.ts";

/*
 * A failing plan is printed with its seed and path, made as small as it gets. To run it again:
 * SIMULATION_SEED=<seed> SIMULATION_PATH=<path>; SIMULATION_RUNS=10000 looks further.
 */
const { SIMULATION_SEED, SIMULATION_PATH, SIMULATION_RUNS } = process.env;
const seed = Number(SIMULATION_SEED ?? 1);
const RUNS = Number(SIMULATION_RUNS ?? 500);
const RUNS_PER_BUG = 300;

const holds = (planted: Planted, relevant: RegExp) =>
  fc.asyncProperty(plans, async (plan) => {
    const { findings, trace } = await simulate(plan, planted);
    const found = findings.filter((finding) => relevant.test(finding));
    if (found.length > 0) throw new Error([...found, ...trace].join("\n"));
  });

const withoutIds = (lines: string[]) => lines.map((line) => line.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "id"));

test(`${RUNS} courses with lost, late and repeated messages, crashes and stalls: nothing lost, doubled or stuck`, async () => {
  await fc.assert(holds({}, /./), { seed, numRuns: RUNS, ...(SIMULATION_PATH && { path: SIMULATION_PATH }) });
}, 600_000);

test("the same plan gives the same course", async () => {
  for (const plan of fc.sample(plans, { seed, numRuns: 5 })) {
    const [once, again] = [await simulate(plan), await simulate(plan)];
    expect(once.trace.length).toBeGreaterThan(0);
    expect(withoutIds(again.trace)).toEqual(withoutIds(once.trace));
    expect(again.story).toEqual(once.story);
  }
});

describe("planted bugs are found", () => {
  test.each<[keyof typeof plantedBugs, RegExp]>([
    ["an answer before the commit", /was answered with position/],
    ["a cursor over positions that are given out before the commit", /the follower saw/],
    ["a result of an older attempt is accepted", /words of another attempt/],
    ["no outcome rows", /has \d effects/],
  ])("%s", async (bug, finding) => {
    const { failed } = await fc.check(holds(plantedBugs[bug]!, finding), {
      seed,
      numRuns: RUNS_PER_BUG,
      endOnFailure: true,
    });
    expect(failed).toBe(true);
  });
});
