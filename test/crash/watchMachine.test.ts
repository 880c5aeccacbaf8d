import { expect, test } from "vitest";
import { describeLoads, watchMachine } from "../../dev/crash/watchMachine.ts";

test("a run reports how busy the machine was, whatever the order of the samples", () => {
  expect(describeLoads([20, 1.25, 3], 2)).toBe("machine: 2 cores, load average 1.3 to 20.0, median 3.0");
  expect(describeLoads([4], 8)).toBe("machine: 8 cores, load average 4.0 to 4.0, median 4.0");
  expect(watchMachine().end()).toMatch(/^machine: \d+ cores, load average [\d.]+ to [\d.]+, median [\d.]+$/);
});
