import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { StreamHead } from "#events/ports.ts";
import { createSweep } from "./sweep.ts";

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => void vi.useRealTimers());

/** A log whose work becomes due at these times (ms). A sweep takes `sweep_ms` and finishes all work it finds. */
function stage(due: number[], sweep_ms: number, now = () => Date.now()) {
  const done = new Map<number, number>();
  const sweep = createSweep({
    log: {
      async openWork({ now }) {
        await new Promise((resolve) => setTimeout(resolve, sweep_ms));
        for (const time of due) if (time < now.getTime() && !done.has(time)) done.set(time, Date.now());
        return [];
      },
      async nextDue(now) {
        const next = due.filter((time) => time >= now.getTime()).toSorted((a, b) => a - b)[0];
        return next === undefined ? undefined : new Date(next);
      },
    },
    worker: "w",
    now,
    busy: () => [],
    resumeWork: {},
    onError: (error) => {
      throw error;
    },
  });
  return { sweep, done };
}

test("a sweep wakes for each due time, also for one that passes while it sweeps", async () => {
  // the first sweep begins at 2,000 and ends at 2,300
  const { sweep, done } = stage([1_000, 2_100, 3_500], 300);
  sweep.start();
  await vi.advanceTimersByTimeAsync(4_600);
  await Promise.all([sweep.stop(), vi.advanceTimersByTimeAsync(300)]);
  const delays = [...done].map(([due, at]) => at - due);
  expect([...done.keys()]).toEqual([1_000, 2_100, 3_500]);
  expect(delays[1]).toBeLessThan(1_000);
  expect(delays[2]).toBeLessThan(1_000);
});

test("a clock that is an hour ahead makes no work due", async () => {
  const { sweep, done } = stage([60_000], 1, () => Date.now() - 3_600_000);
  vi.setSystemTime(3_600_000);
  await Promise.all([sweep.once(), vi.advanceTimersByTimeAsync(10)]);
  expect(done.size).toBe(0);
});

test("a full batch is followed by the next one at once, but not by the same one", async () => {
  const batch = (n: number) =>
    Array.from({ length: 200 }, (_, k) => ({ stream: `erasure-${200 * n + k}` }) as StreamHead);
  const found: number[] = [];
  const sweep = createSweep({
    log: {
      openWork: async () => {
        found.push(Date.now());
        return batch(Math.min(found.length, 3));
      },
      nextDue: async () => undefined,
    },
    worker: "w",
    busy: () => [],
    resumeWork: {},
    onError: (error) => {
      throw error;
    },
  });
  sweep.start();
  await vi.advanceTimersByTimeAsync(9_000);
  await sweep.stop();
  expect(found).toEqual([2_000, 2_020, 2_040, 2_060, 4_060, 6_060, 8_060]);
});

test("work that takes long to resume does not delay what others wait for, and is not resumed twice", async () => {
  const started: string[] = [];
  const slow = Promise.withResolvers<void>();
  let isDue = false;
  const sweep = createSweep({
    log: {
      openWork: async () => ["message-slow", ...(isDue ? ["run-due"] : [])].map((stream) => ({ stream }) as StreamHead),
      nextDue: async () => undefined,
    },
    worker: "w",
    busy: () => [],
    resumeWork: {
      message: ({ stream }) => {
        started.push(stream);
        return slow.promise;
      },
      run: async ({ stream }) => void started.push(stream),
    },
    onError: (error) => {
      throw error;
    },
  });
  sweep.start();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(started).toEqual(["message-slow"]);
  isDue = true;
  await vi.advanceTimersByTimeAsync(2_600);
  expect(started).toEqual(["message-slow", "run-due"]);
  let hasStopped = false;
  const stopping = sweep.stop().then(() => (hasStopped = true));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(hasStopped).toBe(false);
  slow.resolve();
  await stopping;
});
