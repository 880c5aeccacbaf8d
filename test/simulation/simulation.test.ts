import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { plans } from "./plan.ts";
import { plantedBugs } from "./plantedBugs.ts";
import { assertNoFinding, noFinding } from "./property.ts";
import { simulate } from "./run.ts";

const SEED = 3;
const RUNS = 200;
const RUNS_PER_BUG = 1_000;

const withoutIds = (lines: string[]) => lines.map((line) => line.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "id"));

test("lost, late or repeated messages, crashes and stalls lose nothing, double nothing and block nothing", async () => {
  await assertNoFinding(RUNS, SEED);
});

test("the same plan gives the same simulated run", async () => {
  for (const plan of fc.sample(plans, { seed: SEED, numRuns: 5 })) {
    const [once, again] = [await simulate(plan), await simulate(plan)];
    expect(once.trace.length).toBeGreaterThan(0);
    expect(withoutIds(again.trace)).toEqual(withoutIds(once.trace));
    expect(again.story).toEqual(once.story);
  }
});

describe("the simulation finds a planted bug:", () => {
  test.each<[keyof typeof plantedBugs, RegExp]>([
    ["an answer before the commit", /was answered with position/],
    ["a cursor over positions that are given out before the commit", /the follower saw/],
    ["a result of an older attempt is accepted", /words of another attempt/],
    ["no outcome rows", /has \d effects/],
  ])("%s", async (bug, finding) => {
    const { failed } = await fc.check(noFinding(plantedBugs[bug]!, finding), {
      seed: SEED,
      numRuns: RUNS_PER_BUG,
      endOnFailure: true,
    });
    expect(failed).toBe(true);
  });
});
