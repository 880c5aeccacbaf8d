import { expect, test } from "vitest";
import { benches } from "../../dev/bench/benches.ts";
import { requireBlock } from "../../dev/bench/tools/record.ts";

test.each(Object.keys(benches))("the page of benchmarks has a block for what the bench %s measures", (name) => {
  expect(() => requireBlock(name)).not.toThrow();
});

test("a bench without a block is refused before it measures", () => {
  expect(() => requireBlock("unknown")).toThrow("no block between <!-- begin unknown --> and <!-- end unknown -->");
});
