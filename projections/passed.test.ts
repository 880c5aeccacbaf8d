import { beforeEach, expect, test, vi } from "vitest";
import { createStanding, type Standing } from "./passed.ts";

let rows: { name: string; position: number }[] | Error;
let told: (name: string, position: number) => void;
let standing: Standing;
const query = vi.fn(async () => {
  if (rows instanceof Error) throw rows;
  return rows as never[];
});
beforeEach(() => {
  rows = [];
  query.mockClear();
  const hints = { onProjected: (listener: typeof told) => ((told = listener), () => {}), wanted: () => {} };
  standing = createStanding({ hints, db: { query } });
});

test("what was told is taken back by a doubt, and waited for", async () => {
  told("files", 7);
  standing.doubt();
  rows = [{ name: "files", position: 5 }];
  expect(await standing.passed(["files"], 7, 100)).toBe(false);
  const regained = standing.regained();
  rows = [{ name: "files", position: 7 }];
  await regained;
  expect(await standing.passed(["files"], 7, 100)).toBe(true);
});

test("without a doubt nobody is asked and nobody waits", async () => {
  told("files", 7);
  await standing.regained();
  expect(await standing.passed(["files"], 7, 100)).toBe(true);
  expect(query).not.toHaveBeenCalled();
});

test("a database that cannot be asked fails those who wait, and is asked again by the next", async () => {
  told("files", 7);
  standing.doubt();
  rows = new Error("away");
  await expect(standing.regained()).rejects.toThrow("away");
  rows = [{ name: "files", position: 7 }];
  await standing.regained();
  expect(query).toHaveBeenCalledTimes(2);
});

test("read models that do not come back are served as they are after 5 s", async () => {
  vi.useFakeTimers();
  told("files", 7);
  standing.doubt();
  const regained = standing.regained();
  await vi.advanceTimersByTimeAsync(6_000);
  await regained;
  vi.useRealTimers();
  expect(await standing.passed(["files"], 7, 100)).toBe(false);
});
