import type { CellObject, DenseWorkSheet, Range } from "@e965/xlsx";
import type { Block, Cell, Row } from "./blocks.ts";
import { cellText } from "./cellText.ts";
import { cellLink } from "./cellLink.ts";
import { openReadings, type SpokenCells } from "./readings.ts";

/** Cells of a merged area that is filled; a larger one is only a background. */
const MAX_AREA = 10_000;
/** Cells of all merged areas of a sheet that are filled; some bytes of a file declare an area of thousands. */
const MAX_FILLED = 1_000_000;

const toCell = (cell: CellObject, column: number, date1904: boolean): Cell | undefined => {
  const text = cellText(cell, date1904);
  if (text === "") return undefined;
  const link = cellLink(cell, text);
  return { column, text, ...(link !== undefined && { link }), isText: cell.t === "s", area: null };
};

/** Rows with content. forEach skips the holes that SheetJS leaves for empty rows and cells. */
const filledRows = (
  data: DenseWorkSheet["!data"],
  date1904: boolean,
  withReadings: ReturnType<typeof openReadings>,
): Map<number, Row> => {
  const rows = new Map<number, Row>();
  data.forEach((cells, at) => {
    const row: Row = { at, cells: [] };
    cells?.forEach((cell, column) => {
      const found = cell && toCell(withReadings(cell, at, column), column, date1904);
      if (found) row.cells.push(found);
    });
    if (row.cells.length > 0) rows.set(at, row);
  });
  return rows;
};

type Merges = readonly Range[];

/** The cells by row and column, of the rows in which merged areas begin: a row may have 16,000 cells, and as many areas. */
const indexAnchors = (rows: Map<number, Row>, merges: Merges): Map<number, Map<number, Cell>> => {
  const starts = new Set(merges.map(({ s }) => s.r));
  return new Map(
    [...starts].map((at) => [at, new Map((rows.get(at)?.cells ?? []).map((cell) => [cell.column, cell]))]),
  );
};

/** Repeats a merged cell's text in its whole area. */
const fillMerges = (rows: Map<number, Row>, merges: Merges): void => {
  const anchors = indexAnchors(rows, merges);
  let left = MAX_FILLED;
  for (const [area, { s, e }] of merges.entries()) {
    const size = (e.r - s.r + 1) * (e.c - s.c + 1);
    if (size > Math.min(MAX_AREA, left)) continue;
    const anchor = anchors.get(s.r)?.get(s.c);
    if (!anchor) continue;
    left -= size;
    anchor.area = area;
    // its first cell leads to the address
    const { link: _, ...copy } = anchor;
    for (let at = s.r; at <= e.r; at += 1) {
      const row: Row = rows.get(at) ?? { at, cells: [] };
      rows.set(at, row);
      for (let column = s.c; column <= e.c; column += 1) {
        if (at !== s.r || column !== s.c) row.cells.push({ ...copy, column });
      }
    }
  }
};

const sortRows = (rows: Map<number, Row>): Block => {
  for (const { cells } of rows.values()) cells.sort((one, other) => one.column - other.column);
  return [...rows.values()].toSorted((one, other) => one.at - other.at);
};

/** The cells of a sheet that have content. `spoken`: those that show phonetic readings. */
export const readCells = (sheet: DenseWorkSheet, date1904: boolean, spoken: SpokenCells = new Map()): Block => {
  const rows = filledRows(sheet["!data"], date1904, openReadings(spoken));
  fillMerges(rows, sheet["!merges"] ?? []);
  return sortRows(rows);
};
