import { expect, test } from "vitest";
import { byId, readAll } from "./readAll.ts";

const rows = (count: number) => Array.from({ length: count }, (_, n) => ({ id: String(n) }));

/** A list whose pages have at most `perPage` rows, whatever is asked for, and the offsets that were asked for. */
function listOf(all: { id: string }[], perPage: number) {
  const asked: number[] = [];
  const read = async ({ limit, offset }: { limit: number; offset: number }) => {
    asked.push(offset);
    return { data: all.slice(offset, offset + Math.min(limit, perPage)), total: all.length };
  };
  return { read, asked };
}

test("a list is read to its end even if long rows make its pages shorter", async () => {
  const { read, asked } = listOf(rows(75), 33);
  expect(await readAll(read, byId)).toEqual({ data: rows(75), total: 75, isWhole: true });
  expect(asked).toEqual([0, 33, 66]);
  expect(await readAll(listOf(rows(501), 500).read, byId)).toMatchObject({ total: 501, isWhole: true });
  expect(await readAll(listOf([], 500).read, byId)).toEqual({ data: [], total: 0, isWhole: true });
});

test("a list that is too long reports that it is incomplete", async () => {
  const { data, total, isWhole } = await readAll(listOf(rows(20_001), 500).read, byId);
  expect([data.length, total, isWhole]).toEqual([20_000, 20_001, false]);
});

test("a row that moves to the next page during the read appears once, and the read of a shrinking list ends", async () => {
  const pages = [rows(3), rows(5).slice(2)];
  const moved = await readAll(async () => ({ data: pages.shift() ?? [], total: 6 }), byId);
  expect(moved).toEqual({ data: rows(5), total: 6, isWhole: true });
  const shrunk = await readAll(async ({ offset }) => ({ data: rows(3).slice(offset), total: 9 }), byId);
  expect(shrunk).toEqual({ data: rows(3), total: 3, isWhole: true });
});
