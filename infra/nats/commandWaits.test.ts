import { expect, test } from "vitest";
import { commandWaits, nextPoll } from "./commandWaits.ts";

test("a command waits less by the time its client has already waited, but long enough for a worker to claim it", () => {
  expect(commandWaits()).toEqual({ firstPoll: 1_500, untaken: 3_400, unclaimed: 4_300, due: 4_800, logAway: 4_000 });
  expect(commandWaits(1_000)).toMatchObject({ firstPoll: 1_500, untaken: 2_400, unclaimed: 3_300, due: 3_800 });
  expect(commandWaits(1_000).logAway).toBe(3_000);
  expect(commandWaits(4_900)).toMatchObject({ firstPoll: 1_500, untaken: 1_500, unclaimed: 2_400, due: 2_900 });
  expect(commandWaits(4_900).logAway).toBe(1_500);
});

test("the outcome is read every second and at the end of each wait", () => {
  const waits = commandWaits();
  expect(nextPoll(waits, 1_501)).toBe(1_000);
  expect(nextPoll(waits, 2_502)).toBe(898);
  expect(nextPoll(waits, 3_401)).toBe(899);
  expect(nextPoll(waits, 4_300)).toBe(1_000);
});
