import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { copySlice } from "./copySlice.ts";

test("a copied part is the same as a slice, also where it begins or ends within a surrogate pair", () => {
  const text = "ab😀漢\0é";
  for (let start = 0; start <= text.length; start++)
    for (let end = start; end <= text.length; end++) expect(copySlice(text, start, end)).toBe(text.slice(start, end));
});

test("copied parts keep none of the texts in memory", () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  const used = () => {
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = used();
  const read = (n: number) => Buffer.from(`${n}${"漢".repeat(5_000_000)}`).toString();
  const kept = Array.from({ length: 20 }, (_, n) => copySlice(read(n), 0, 1_000));
  // their sum is 200 MB
  expect(used() - before).toBeLessThan(100_000_000);
  expect(kept).toHaveLength(20);
});
