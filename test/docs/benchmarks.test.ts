import { expect, test } from "vitest";
import { benches } from "../../dev/bench/benches.ts";
import { requireBlock } from "../../dev/bench/tools/record.ts";
import { estimateRatio } from "../../dev/bench/tools/stats.ts";

test.each(Object.keys(benches))("the benchmark page has a block for the results of the bench %s", (name) => {
  expect(() => requireBlock(name)).not.toThrow();
});

test("a bench without a block is refused before it runs", () => {
  expect(() => requireBlock("unknown")).toThrow("no block between <!-- begin unknown --> and <!-- end unknown -->");
});

test("measurements that are halved as often as doubled have the ratio 1", () => {
  const { low, middle, high } = estimateRatio([0.5, 2, 0.5, 2, 0.8, 1.25]);
  expect(middle).toBeCloseTo(1);
  expect([low, high].map((one) => Math.sign(one - 1))).toEqual([-1, 1]);
});
