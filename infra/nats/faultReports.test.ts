import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createFaultReports } from "./faultReports.ts";
import { namesFor } from "./names.ts";
import type { PubSub } from "./pubSub.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("faults that the start of a process heals are counted once its metrics have been read", () => {
  const listeners = new Set<(fault: unknown) => void>();
  const pubSub = {
    publish: (_subject: string, fault: unknown) => listeners.forEach((listener) => listener(fault)),
    subscribe(_subject: string, listener: (fault: unknown) => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  } as unknown as PubSub;
  const names = namesFor("healed");
  createFaultReports({ pubSub }, names).report("consumer_ahead");
  const { report, onHealed } = createFaultReports({ pubSub }, names);
  const heard: string[] = [];
  onHealed((fault) => heard.push(fault));
  report("clock_off");
  expect(heard).toEqual(["clock_off"]);
  vi.advanceTimersByTime(60_000);
  expect(heard).toEqual(["clock_off", "consumer_ahead"]);
});
