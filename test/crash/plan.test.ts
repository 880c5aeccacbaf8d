import { expect, test } from "vitest";
import { planFaults } from "../../crash/faults/plan.ts";
import { randomFrom } from "../../crash/random.ts";

test("the same seed plans the same blows, another one others", () => {
  expect(planFaults(1, 50)).toEqual(planFaults(1, 50));
  expect(planFaults(1, 50)).not.toEqual(planFaults(2, 50));
});

test("a long run strikes everything in every way", () => {
  const blows = planFaults(1, 300).map(({ blow }) => blow);
  expect(new Set(blows.map(({ what }) => what))).toEqual(
    new Set(["kill", "backend", "index", "feed", "runner", "stop", "point"]),
  );
  expect(new Set(blows.flatMap((blow) => ("role" in blow ? [blow.role] : [])))).toEqual(
    new Set(["http", "services", "projections", "nats", "postgres", "meilisearch"]),
  );
});

test("choices follow their weights", () => {
  const random = randomFrom("weights");
  const picks = Array.from({ length: 2_000 }, () => random.weighted({ often: 9, rarely: 1 }));
  const rare = picks.filter((pick) => pick === "rarely").length;
  expect(rare).toBeGreaterThan(140);
  expect(rare).toBeLessThan(260);
});
