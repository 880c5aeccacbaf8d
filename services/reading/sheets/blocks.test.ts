import { expect, test } from "vitest";
import { splitBlocks, type Block, type Cell } from "./blocks.ts";

const cell = (column: number, isText: boolean): Cell => ({ column, text: "x", isText, area: null });

test("a sheet with thousands of separate columns is split in one pass", () => {
  const columns = Array.from({ length: 4_000 }, (_, index) => index * 4);
  const sheet: Block = Array.from({ length: 150 }, (_, at) => ({
    at,
    cells: columns.map((column) => cell(column, true)),
  }));
  const blocks = splitBlocks(sheet);
  expect(blocks).toHaveLength(4_000);
  expect(blocks[3_999]?.map(({ cells }) => cells[0]?.column)).toEqual(Array.from({ length: 150 }, () => 15_996));
});

test("figures far from their labels stay with them, but not texts", () => {
  const rows = (isText: boolean): Block =>
    Array.from({ length: 4 }, (_, at) => ({ at, cells: [cell(0, true), cell(9, isText)] }));
  expect(splitBlocks(rows(false))).toHaveLength(1);
  expect(splitBlocks(rows(true))).toHaveLength(2);
});
