import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { updateServiceClock, serviceNow } from "./serviceClock.ts";

const NOW = Date.parse("2026-05-04T12:00:00.400Z");
/** An answer that took 100 ms, from a service whose clock is ahead by a given time. */
const answer = (ahead: number) => updateServiceClock(new Date(NOW - 50 + ahead).toUTCString(), NOW - 100, NOW);

beforeEach(() => void vi.useFakeTimers({ now: NOW }));
afterEach(() => void vi.useRealTimers());

test("the browser's clock is used as long as no answer contradicts it", () => {
  updateServiceClock(null, NOW, NOW);
  expect(serviceNow()).toBe(NOW);
  answer(0);
  answer(300);
  expect(serviceNow()).toBe(NOW);
});

test("a browser whose clock is slow or fast uses the service's time, and time never goes back", () => {
  for (const ahead of [90_000, -3_600_000, 5_000]) {
    answer(ahead);
    expect(serviceNow()).toBeGreaterThanOrEqual(NOW + ahead);
    expect(serviceNow()).toBeLessThanOrEqual(NOW + ahead + 1_100);
  }
});
