import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { serveMetrics } from "./metricsPort.ts";

const RUNS = { usage: () => ({ bytes: 4096, waiting: 2 }) };

test("a process without the API reports on its own port how long its event loop was blocked", async () => {
  const metrics = await serveMetrics({ HOST: "127.0.0.1", METRICS_PORT: 0 }, RUNS);
  const read = async (path: string) => fetch(`http://127.0.0.1:${metrics.port}${path}`);
  await sleep(50);
  for (const until = performance.now() + 500; performance.now() < until; ) continue;
  await sleep(50);
  const text = await (await read("/metrics")).text();
  expect(Number(/event_loop_delay_seconds\{quantile="1"\} (\S+)/.exec(text)?.[1])).toBeGreaterThan(0.4);
  expect(text).toContain("run_memory_bytes 4096");
  expect(text).toContain("run_memory_waiting 2");
  expect((await read("/")).status).toBe(404);
  await metrics.stop();
});

test("a port of metrics that is in use is named with its setting, because two processes of a machine need two", async () => {
  const first = await serveMetrics({ HOST: "127.0.0.1", METRICS_PORT: 0 }, RUNS);
  const second = serveMetrics({ HOST: "127.0.0.1", METRICS_PORT: first.port }, RUNS);
  await expect(second).rejects.toThrow(/^Port \d+ is in use: stop .+, or set METRICS_PORT to another one\.$/);
  await first.stop();
});
