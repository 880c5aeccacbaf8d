import type { CellObject, DenseWorkSheet } from "@e965/xlsx";
import { expect, test } from "vitest";
import { readCells } from "./readCells.ts";

test("merged areas are filled, but no more than a million cells of a sheet", () => {
  const cell: CellObject = { t: "s", v: "x" };
  const rows = Array.from({ length: 150 }, (_, r) => r);
  const sheet: DenseWorkSheet = {
    "!data": rows.map(() => [cell]),
    "!merges": rows.map((r) => ({ s: { r, c: 0 }, e: { r, c: 9_999 } })),
  };
  const counts = readCells(sheet, false).map(({ cells }) => cells.length);
  expect(counts).toEqual(rows.map((r) => (r < 100 ? 10_000 : 1)));
});
