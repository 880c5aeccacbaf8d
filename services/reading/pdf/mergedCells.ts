import { isNumber } from "./wrappedRows.ts";

/* Cells over several columns or rows, in a grid in which `owner` names the cell whose text each cell shows. */

export interface CellGrid {
  /** For each cell, row by row, the index of the cell that it is merged into, or its own. */
  owner: readonly number[];
  columns: number;
}

/** Maximum header rows. */
const MAX_HEADS = 3;
/** Maximum columns that name a row. */
const LABELS = 2;

const isYear = (text: string): boolean => /^(?:19|20)\d\d$/.test(text);

const isValue = (text: string): boolean => isNumber(text) && !isYear(text);

const rowOf = ({ columns }: CellGrid, index: number): number => Math.floor(index / columns);

/** Whether a cell is merged into one on its left. */
const isMergedAcross = (grid: CellGrid, row: number, column: number): boolean => {
  const owner = grid.owner[row * grid.columns + column]!;
  return rowOf(grid, owner) === row && owner % grid.columns < column;
};

const columnsOf = ({ columns }: CellGrid): number[] => Array.from({ length: columns }, (_, column) => column);

/** Whether names span several columns, but not all, because that would be a title. */
const hasSpans = (grid: CellGrid, texts: readonly string[], row: number): boolean => {
  const merged = columnsOf(grid).filter((column) => isMergedAcross(grid, row, column));
  const owners = new Set(merged.map((column) => grid.owner[row * grid.columns + column]! % grid.columns));
  return owners.size > 0 && merged.length < grid.columns - 1 && [...owners].every((column) => texts[column] !== "");
};

/** The header rows with names over several columns, and the row below that names each column; 1 for a plain header. */
function headRows(grid: CellGrid, texts: readonly string[][]): number {
  const heads = texts.findIndex((row, at) => !hasSpans(grid, row, at)) + 1;
  const isNamed = texts[heads - 1]?.every((text, column) => column === 0 || !isValue(text)) ?? false;
  return isNamed && heads <= MAX_HEADS && heads < texts.length ? heads : 1;
}

/** The header texts of each column; a name over several columns precedes a slash. */
function stackedHeader(grid: CellGrid, texts: readonly string[][], heads: number): string[] {
  return columnsOf(grid).map((column) => {
    const owners = Array.from({ length: heads }, (_, row) => grid.owner[row * grid.columns + column]!);
    const names = [...new Set(owners)].map((owner) => texts[rowOf(grid, owner)]![owner % grid.columns]!);
    return names.filter((name) => name !== "").join(" / ");
  });
}

/** The texts of the rows; a name over several columns repeats in each of them, and a label of several rows in each row. */
export function repeatMergedTexts(grid: CellGrid, texts: readonly string[][]): string[][] {
  const heads = headRows(grid, texts);
  const body = texts.slice(heads).map((cells, index) =>
    cells.map((text, column) => {
      const owner = grid.owner[(index + heads) * grid.columns + column]!;
      const isLabel = column < LABELS && owner % grid.columns === column && rowOf(grid, owner) >= heads;
      return isLabel ? texts[rowOf(grid, owner)]![column]! : text;
    }),
  );
  const header = hasSpans(grid, texts[0]!, 0) ? stackedHeader(grid, texts, heads) : texts[0]!;
  return [header, ...body];
}
