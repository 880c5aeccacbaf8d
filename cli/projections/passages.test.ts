import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Db } from "#projections/projection.ts";
import { rebuildPassages } from "./passages.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

/** A database in which an index is built, by a process that may die or get no further. */
function openBuild() {
  const build = { position: 0, polls: 0, isLed: true, isDone: false };
  const answer = (text: string): any[] => {
    if (text.includes("pg_locks")) return build.isLed ? [{}] : [];
    if (text.includes("to_regclass")) return [{ there: false }];
    if (text.startsWith("insert")) return [];
    build.polls++;
    const { position, isDone } = build;
    const index_id = isDone ? "new" : "old";
    return [{ index_id, version: 3, position: 9, lag: 0, building: !isDone, built: position, target: 9 }];
  };
  const db: Db = { query: async <R>(text: string): Promise<R[]> => answer(text) };
  return { build, rebuilding: rebuildPassages(db, () => {}) };
}

test("a new index whose leader dies is given up after half a minute", async () => {
  const { build, rebuilding } = openBuild();
  const failed = expect(rebuilding).rejects.toThrow(
    "No services process has run for 30 s, so nothing fills the new index",
  );
  await vi.advanceTimersByTimeAsync(60_000);
  build.isLed = false;
  await vi.advanceTimersByTimeAsync(35_000);
  await failed;
});

test("a standby that takes over in time finishes the index", async () => {
  const { build, rebuilding } = openBuild();
  await vi.advanceTimersByTimeAsync(1_000);
  build.isLed = false;
  await vi.advanceTimersByTimeAsync(20_000);
  Object.assign(build, { isLed: true, position: 5 });
  await vi.advanceTimersByTimeAsync(60_000);
  build.isDone = true;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await rebuilding).toMatchObject({ index_id: "new", serves: true });
});

test("an index that gets no further for ten minutes is given up, and a slow one is not", async () => {
  // the clock jumps, because a fake timer for each of its polls takes half a minute
  vi.useFakeTimers({ toFake: ["performance"] });
  const { build, rebuilding } = openBuild();
  const failed = expect(rebuilding).rejects.toThrow("The new index has been at position 2 of 9 for 600 s");
  const twoPolls = async () => {
    const after = build.polls + 2;
    await expect.poll(() => build.polls).toBeGreaterThanOrEqual(after);
  };
  for (const position of [0, 1, 2]) {
    build.position = position;
    await twoPolls();
    vi.advanceTimersByTime(599_000);
    await twoPolls();
  }
  vi.advanceTimersByTime(1_000);
  await failed;
});
