import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { randomFrom } from "../../dev/crash/random.ts";
import { enterTime } from "./time.ts";
import { createWorld, QUIET } from "./world.ts";

test("a timer that another file of the process left behind can be cleared within simulated time", async () => {
  let fired = 0;
  const [once, again] = [setTimeout(() => fired++, 5), setInterval(() => fired++, 5)];
  const leave = enterTime(createWorld(randomFrom(1), QUIET));
  clearTimeout(once);
  clearInterval(again);
  leave();
  await sleep(30);
  expect(fired).toBe(0);
});
