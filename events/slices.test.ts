import { expect, test } from "vitest";
import { mapInSlices } from "./slices.ts";

const compute = (ms: number): void => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};
const numbers = Array.from({ length: 60 }, (_, n) => n);

/** The longest time between two rounds of the event loop while the work goes on, and how many there were. */
async function watch(work: Promise<unknown>): Promise<{ rounds: number; longest_ms: number }> {
  let [isOver, rounds, longest_ms, last] = [false, 0, 0, performance.now()];
  const count = (): void => {
    const now = performance.now();
    [longest_ms, last, rounds] = [Math.max(longest_ms, now - last), now, rounds + 1];
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await work;
  isOver = true;
  return { rounds, longest_ms };
}

test("the event loop goes round while many values are converted, and their order stays", async () => {
  const work = mapInSlices(numbers, (value) => (compute(1), value * 2));
  const { rounds } = await watch(work);
  expect(await work).toEqual(numbers.map((value) => value * 2));
  expect(rounds).toBeGreaterThanOrEqual(8);
});

test("many pieces of work delay others by one slice, not by their sum", async () => {
  const works = numbers.slice(0, 20).map(() => mapInSlices(numbers.slice(0, 40), () => compute(0.5)));
  const { rounds, longest_ms } = await watch(Promise.all(works));
  // 20 slices of 5 ms would be 100 ms; a busy machine takes its own time beside
  expect(longest_ms).toBeLessThan(60);
  expect(rounds).toBeGreaterThanOrEqual(60);
});

test("a few values are converted at once, also beside long work", async () => {
  const long = mapInSlices(numbers, () => compute(1));
  let rounds = 0;
  setImmediate(() => rounds++);
  expect(await mapInSlices([1, 2, 3], String)).toEqual(["1", "2", "3"]);
  expect(rounds).toBe(0);
  await long;
});
