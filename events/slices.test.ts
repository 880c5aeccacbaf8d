import { expect, test } from "vitest";
import { countRounds } from "#test/countRounds.ts";
import { createPause, mapInSlices } from "./slices.ts";

const compute = (ms: number): void => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};
const numbers = Array.from({ length: 60 }, (_, n) => n);

test("the event loop goes round while many values are converted, and their order stays", async () => {
  const work = mapInSlices(numbers, (value) => (compute(1), value * 2));
  const rounds = await countRounds(work);
  expect(await work).toEqual(numbers.map((value) => value * 2));
  expect(rounds).toBeGreaterThanOrEqual(8);
});

test("many pieces of work delay others by one slice, not by their sum", async () => {
  const works = numbers.slice(0, 20).map(() => mapInSlices(numbers.slice(0, 40), () => compute(0.5)));
  // 400 ms of work in 2 ms per round; with a slice per piece it would be 40 ms
  expect(await countRounds(Promise.all(works))).toBeGreaterThanOrEqual(40);
});

test("a few values are converted at once, also beside long work", async () => {
  const long = mapInSlices(numbers, () => compute(1));
  let rounds = 0;
  setImmediate(() => rounds++);
  expect(await mapInSlices([1, 2, 3], String)).toEqual(["1", "2", "3"]);
  expect(rounds).toBe(0);
  await long;
});

test("the event loop goes round while a few values that take long are converted", async () => {
  const work = mapInSlices(numbers.slice(0, 20), () => compute(3));
  expect(await countRounds(work)).toBeGreaterThanOrEqual(8);
});

test("hundreds of pieces that compute little share the rounds", async () => {
  const start = createPause();
  await start();
  compute(6);
  const pieces = Array.from({ length: 400 }, async () => {
    await createPause()();
    compute(0.02);
  });
  // 8 ms of work in rounds of 2 ms; with a round per piece it would be 400
  expect(await countRounds(Promise.all(pieces))).toBeLessThan(100);
});

/** Work whose every part uses up a round. */
async function work(count: number, done: () => void = () => {}): Promise<void> {
  const pause = createPause();
  for (let n = 0; n < count; n++) {
    compute(6);
    done();
    await pause();
  }
}

test("long work continues while short work keeps arriving", async () => {
  let isOver = false;
  const arrive = async () => {
    let count = 0;
    for (; !isOver && count < 100; count++) await work(2);
    return count;
  };
  const arriving = Array.from({ length: 4 }, arrive);
  await work(15);
  isOver = true;
  for (const count of await Promise.all(arriving)) expect(count).toBeLessThan(50);
});

test("short work continues before all work that has waited more often", async () => {
  let parts = 0;
  const long = Array.from({ length: 8 }, () => work(10, () => parts++));
  while (parts < 40) await new Promise(setImmediate);
  const before = parts;
  await work(3);
  // one after the other, all eight would have run before each part
  expect(parts - before).toBeLessThan(8);
  await Promise.all(long);
});
