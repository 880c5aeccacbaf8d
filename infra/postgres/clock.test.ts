import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Clock } from "./clock.ts";
import { watchClock } from "./clock.ts";

const HOUR_MS = 3_600_000;

let offset_ms = 0;
let round_trip_ms = 0;
let isAway = false;
let reports = 0;
let clock: (Clock & { stop(): Promise<void> }) | undefined;

beforeEach(() => {
  [offset_ms, round_trip_ms, isAway, reports] = [0, 0, false, 0];
});
afterEach(() => clock?.stop());

/** A database whose clock is right, with a configurable round trip. */
const db = {
  async query<R>(): Promise<R[]> {
    await sleep(round_trip_ms / 2);
    if (isAway) throw new Error("away");
    const ms = Date.now();
    await sleep(round_trip_ms / 2);
    return [{ ms }] as R[];
  },
};

const watch = async () =>
  (clock = await watchClock({
    db,
    logger: pino({ level: "silent" }),
    max_offset_ms: 1_000,
    onOff: () => void (reports += 1),
    now: () => Date.now() + offset_ms,
  }));

test("a wrong clock is detected at startup, however slow the connection is", async () => {
  [offset_ms, round_trip_ms] = [HOUR_MS, 700];
  expect((await watch()).isOpen()).toBe(false);
  expect(reports).toBe(1);
});

test("a slow connection alone does not count as a wrong clock", async () => {
  round_trip_ms = 1_400;
  expect((await watch()).isOpen()).toBe(true);
});

test.each([HOUR_MS, -HOUR_MS, 24 * HOUR_MS])(
  "a jump of the clock by %d ms is detected at once without the database, and the corrected time stays right",
  async (jump) => {
    const { isOpen, now, onChange } = await watch();
    const changes: boolean[] = [];
    onChange((open) => changes.push(open));
    expect(isOpen()).toBe(true);
    isAway = true;
    offset_ms = jump;
    await expect.poll(() => changes).toEqual([false]);
    expect(isOpen()).toBe(false);
    expect(Math.abs(now() - Date.now())).toBeLessThan(500);
    offset_ms = 0;
    expect([isOpen(), reports]).toEqual([true, 1]);
  },
);
