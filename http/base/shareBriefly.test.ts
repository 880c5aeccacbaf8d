import { afterEach, expect, test, vi } from "vitest";
import { shareBriefly } from "./shareBriefly.ts";

afterEach(() => void vi.useRealTimers());

test("calls within a second share one result, and the next one gets a new result", async () => {
  vi.useFakeTimers();
  let calls = 0;
  const read = shareBriefly(async () => ++calls);
  expect(await Promise.all([read(), read()])).toEqual([1, 1]);
  vi.advanceTimersByTime(999);
  expect(await read()).toBe(1);
  vi.advanceTimersByTime(1);
  expect(await Promise.all([read(), read()])).toEqual([2, 2]);
});
