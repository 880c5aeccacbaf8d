import { test } from "vitest";
import { assertNoFinding } from "./property.ts";

/* The suite simulates 200 plans; here a longer search with another seed. */

test("a thousand simulated runs with crashes, stalls and a faulty bus lose, double and block nothing", async () => {
  await assertNoFinding(1_000, 2);
});
