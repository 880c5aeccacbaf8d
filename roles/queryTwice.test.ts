import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Unavailable } from "#events/ports.ts";
import { createQueryTwice } from "./queryTwice.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Queries a file that appears in the read model after this many milliseconds, or never. */
async function find(foundAfter?: number) {
  const began = performance.now();
  const hasIt = () => foundAfter !== undefined && performance.now() - began >= foundAfter;
  const db = {
    query: async (text: string) =>
      text.includes("log.head") ? [{ position: 7 }] : [{ name: "files", position: hasIt() ? 7 : 3 }],
  };
  const hints = { onProjected: () => () => {}, requestProjected: () => {} };
  const queryTwice = createQueryTwice({ db, bus: { hints } } as never);
  const found = queryTwice("files", async () => (hasIt() ? "a file" : undefined), Boolean).catch(
    (error: unknown) => error,
  );
  await vi.advanceTimersByTimeAsync(6_000);
  return found;
}

test("a row that the read model gets in time is found", async () => {
  expect(await find(0)).toBe("a file");
  expect(await find(2_000)).toBe("a file");
});

test("a row is not reported as missing while its read model lags", async () => {
  expect(await find()).toBeInstanceOf(Unavailable);
});
