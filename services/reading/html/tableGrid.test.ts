import type { PhrasingContent } from "mdast";
import { expect, test } from "vitest";
import { toGrid, type Cell } from "./tableGrid.ts";

test("a row with more cells than a function call may have arguments is read", () => {
  const text = (value: string): PhrasingContent[] => [{ type: "text", value }];
  const cell = (content: PhrasingContent[]): Cell => ({ content, columns: 1, rows: 1 });
  const wide = [cell(text("a")), ...Array.from({ length: 200_000 }, () => cell([])), cell(text("b"))];
  const { rows } = toGrid([
    { header: false, cells: wide },
    { header: false, cells: [cell(text("c"))] },
  ]);
  expect(rows).toEqual([
    [text("a"), text("b")],
    [text("c"), []],
  ]);
});
