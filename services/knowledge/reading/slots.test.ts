import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createSlots } from "./slots.ts";

test("so many run at once, in order, also after one has failed", async () => {
  const slots = createSlots(2);
  const begun: number[] = [];
  let [running, most] = [0, 0];
  const work = (n: number) =>
    slots(async () => {
      begun.push(n);
      most = Math.max(most, ++running);
      await sleep(5);
      running--;
      if (n === 1) throw new Error("one");
      return n;
    });
  const outcomes = await Promise.allSettled([0, 1, 2, 3, 4].map(work));
  expect(outcomes.map(({ status }) => status)).toEqual([
    "fulfilled",
    "rejected",
    "fulfilled",
    "fulfilled",
    "fulfilled",
  ]);
  expect(begun).toEqual([0, 1, 2, 3, 4]);
  expect(most).toBe(2);
});
