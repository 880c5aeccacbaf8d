import { expect, test } from "vitest";
import { mapInSlices } from "./slices.ts";

const compute = (ms: number): void => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};

test("the event loop gets its turn while many values are converted, and their order stays", async () => {
  let turns = 0;
  let isOver = false;
  const count = (): void => void (isOver || (++turns && setImmediate(count)));
  setImmediate(count);
  const values = Array.from({ length: 60 }, (_, n) => n);
  const converted = await mapInSlices(values, (value) => (compute(1), value * 2));
  isOver = true;
  expect(converted).toEqual(values.map((value) => value * 2));
  expect(turns).toBeGreaterThanOrEqual(8);
});

test("a few cheap values are converted at once", async () => {
  let turns = 0;
  setImmediate(() => turns++);
  expect(await mapInSlices([1, 2, 3], String)).toEqual(["1", "2", "3"]);
  expect(turns).toBe(0);
});
