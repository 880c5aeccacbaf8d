import { expect, test } from "vitest";
import { benches } from "../../dev/bench/benches.ts";
import { requireBlock } from "../../dev/bench/tools/record.ts";

test.each(Object.keys(benches))("the benchmark page has a block for the results of the bench %s", (name) => {
  expect(() => requireBlock(name)).not.toThrow();
});

test("a bench without a block is refused before it runs", () => {
  expect(() => requireBlock("unknown")).toThrow("no block between <!-- begin unknown --> and <!-- end unknown -->");
});
