import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createInterruptiblePause } from "./pause.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Measures how long a pause of 250 ms lasts when it is cut at these times. */
async function measureDuration(cuts: [at: number, within_ms: number][]): Promise<number> {
  const pause = createInterruptiblePause();
  const began = performance.now();
  for (const [at, within_ms] of cuts) setTimeout(() => pause.cut(within_ms), at);
  let duration = -1;
  void pause.wait(250).then(() => (duration = performance.now() - began));
  await vi.advanceTimersByTimeAsync(1_000);
  return duration;
}

describe("a pause", () => {
  test.each([
    ["lasts its full time when nothing cuts it", [], 250],
    ["ends at once when it is cut to 0 ms", [[30, 0]], 30],
    ["ends the given time after a cut", [[30, 20]], 50],
    [
      "is not prolonged by later cuts",
      [
        [30, 20],
        [40, 20],
        [45, 20],
      ],
      50,
    ],
    ["is not prolonged by a cut that is longer than the rest", [[240, 20]], 250],
    [
      "ends at once when a cut to 0 ms follows another cut",
      [
        [30, 20],
        [35, 0],
      ],
      35,
    ],
  ] as [string, [number, number][], number][])("%s", async (_, cuts, expected) => {
    expect(await measureDuration(cuts)).toBe(expected);
  });

  test("is not shortened by a cut from before it began", async () => {
    const pause = createInterruptiblePause();
    pause.cut(0);
    pause.cut(20);
    let isOver = false;
    void pause.wait(250).then(() => (isOver = true));
    await vi.advanceTimersByTimeAsync(249);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(isOver).toBe(true);
  });
});
