import { expect, test } from "vitest";
import { benchSoak } from "../../dev/bench/soak/bench.ts";

/** The long form takes two hours: `npm run bench -- soak`. */
const MINUTES = Number(process.env["SOAK_MINUTES"] ?? 10);
/** For the servers before it and what they have open after it. */
const AROUND_MINUTES = 5;

test("under moderate load for minutes, the memory of every process stays flat and vacuum keeps up", {
  timeout: (MINUTES + AROUND_MINUTES) * 60_000,
}, async () => {
  const { verdicts, figures } = await benchSoak(MINUTES);
  console.log(JSON.stringify({ ...figures, verdicts }));
  expect(verdicts.map(({ name }) => name)).toEqual(["memory_growth", "dead_rows"]);
  for (const { name, value, floor } of verdicts) expect(value, name).toBeLessThan(floor);
  expect(figures["turns"]).toBeGreaterThan(MINUTES * 60);
});
