import { setTimeout as sleep } from "node:timers/promises";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { measureEventLoopDelay } from "./eventLoopDelay.ts";

const readLongest = async (registry: Registry): Promise<number> =>
  Number(/event_loop_delay_seconds\{quantile="1"\} (\S+)/.exec(await registry.metrics())?.[1]);

test("work that blocks the event loop shows in the next reading, but not in the one after", async () => {
  const registry = new Registry();
  measureEventLoopDelay(registry);
  await sleep(50);
  const until = performance.now() + 1_000;
  while (performance.now() < until) continue;
  await sleep(50);
  const blocked = await readLongest(registry);
  expect(blocked).toBeGreaterThan(0.9);
  await expect.poll(() => readLongest(registry)).toBeLessThan(blocked);
});
