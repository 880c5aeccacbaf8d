import { expect, test } from "vitest";
import { processInBatches } from "./processInBatches.ts";

const items = Array.from({ length: 9 }, (_, n) => n);

test("all items are worked on, two at once, and the results keep their order", async () => {
  let running = 0;
  let most = 0;
  const work = async (n: number) => {
    most = Math.max(most, ++running);
    await new Promise(setImmediate);
    running--;
    return n % 3 === 0 ? [] : [n];
  };
  expect(await processInBatches(items, work, new AbortController().signal)).toEqual({
    results: [1, 2, 4, 5, 7, 8],
    next: 9,
  });
  expect(most).toBe(2);
});

test("nothing more is begun once the client has left", async () => {
  const leaving = new AbortController();
  const work = async (n: number) => {
    if (n === 3) leaving.abort();
    return [n];
  };
  expect(await processInBatches(items, work, leaving.signal)).toEqual({ results: [0, 1, 2, 3], next: 4 });
});
