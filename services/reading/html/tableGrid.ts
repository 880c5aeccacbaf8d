import type { PhrasingContent } from "mdast";
import { plainText } from "./cellContent.ts";
import { joinSigns } from "./signColumns.ts";

/* Expands spanning cells to one cell per row and column, and merges stacked header rows. */

export interface Cell {
  content: PhrasingContent[];
  columns: number;
  rows: number;
}

export interface Row {
  header: boolean;
  cells: Cell[];
}

type Content = PhrasingContent[];

interface GridCell {
  content: Content;
  /** Number of columns that its cell spans. */
  columns: number;
  /** Offset from its cell's first column. */
  step: number;
}

/** Maximum cells that spans may add, because a hostile span must not cost more than the file itself. */
const MAX_CELLS = 200_000;
const MAX_HEADERS = 3;
const SLASH: PhrasingContent = { type: "text", value: " / " };

type GridRow = (GridCell | undefined)[];

const expandSpans = (rows: Row[]): GridRow[] => {
  const places: GridRow[] = rows.map(() => []);
  let left = MAX_CELLS;
  for (const [y, row] of rows.entries()) {
    let x = 0;
    for (const cell of row.cells) {
      while (places[y]?.[x]) x += 1;
      const height = Math.min(cell.rows, rows.length - y);
      const area = cell.columns * height;
      const [columns, lines] = area > left ? [1, 1] : [cell.columns, height];
      left -= area > left ? 0 : area - 1;
      for (let down = 0; down < lines; down += 1) {
        for (let step = 0; step < columns; step += 1) {
          const line = places[y + down];
          if (line) line[x + step] ??= { content: cell.content, columns, step };
        }
      }
      x += columns;
    }
  }
  return places;
};

const isFilled = (place: GridCell | undefined): boolean =>
  place !== undefined && plainText(place.content).trim() !== "";

/** A cell over several columns fills the first of them if no other cell does. */
const dropEmptyColumns = (rows: GridRow[]): GridRow[] => {
  const filled = new Set<number>();
  const firsts = rows.flatMap((row) =>
    row.flatMap((cell, x) => (cell?.step === 0 && isFilled(cell) ? [{ cell, x }] : [])),
  );
  for (const { cell, x } of firsts) if (cell.columns === 1) filled.add(x);
  for (const { cell, x } of firsts) {
    const covered = Array.from({ length: cell.columns }, (_, step) => x + step);
    if (!covered.some((column) => filled.has(column))) filled.add(x);
  }
  const columns = [...filled].toSorted((a, b) => a - b);
  return rows.map((row) => columns.map((x) => row[x]));
};

/** The number of header rows: the declared ones, else the first row and the rows that its cells span. */
const headerCount = (rows: Row[]): number => {
  const declared = rows.findIndex(({ header }) => !header);
  if (declared > 0) return declared <= MAX_HEADERS ? declared : 1;
  const first = declared === 0 ? (rows[0]?.cells ?? []) : [];
  const grouped = first.some(({ columns }) => columns > 1) && first.some((cell) => cell.rows > 1);
  const height = first.reduce((most, cell) => Math.max(most, cell.rows), 1);
  return grouped && height <= MAX_HEADERS && height < rows.length ? height : 1;
};

const YEAR_OR_DATE = /^(?:(?:19|20)\d\d|\d{1,4}[./-]\d{1,2}[./-]\d{1,4})$/;

const isName = (cell: GridCell | undefined): boolean => {
  const text = plainText(cell?.content ?? []).trim();
  return /\p{L}/u.test(text) || YEAR_OR_DATE.test(text);
};

/**
 * The number of undeclared header rows: a first row with names over several columns, and the rows of names below it that have no
 * label of their own. 0 if there is no such row.
 */
const groupedHeaders = (rows: GridRow[]): number => {
  const [first = []] = rows;
  const isGroup = (cell: GridCell | undefined, x: number): boolean => x > 1 && cell?.content === first[x - 1]?.content;
  if (!first.some((cell, x) => isFilled(cell) && isGroup(cell, x))) return 0;
  const labelled = rows.findIndex(
    (row, y) => y > 0 && (isFilled(row[0]) || row.some((cell) => isFilled(cell) && !isName(cell))),
  );
  return labelled > 1 && labelled <= MAX_HEADERS ? labelled : 0;
};

const stackHeaders = (rows: GridRow[], x: number): Content => {
  const labels: Content[] = [];
  for (const row of rows) {
    const content = row[x]?.content ?? [];
    const text = plainText(content).trim();
    if (text !== "" && !labels.some((label) => plainText(label).trim() === text)) labels.push(content);
  }
  // later passes change nodes in place, so a repeated label needs its own nodes
  return structuredClone(labels).flatMap((label, index) => (index === 0 ? label : [{ ...SLASH }, ...label]));
};

/** A spanning cell repeats in each of its columns and rows, so that each row is complete; one over all columns appears once. */
const bodyRow = (row: GridRow, columns: number[]): Content[] => {
  const whole = columns.length > 2 && columns.every((x) => row[x]?.content === row[0]?.content);
  return columns.map((x) => (whole && x > 0 ? [] : structuredClone(row[x]?.content ?? [])));
};

/** A first row of one spanning cell is the title of the table. */
const isTitle = (rows: Row[]): boolean =>
  rows.length > 2 && rows[0]?.cells.length === 1 && (rows[0].cells[0]?.columns ?? 1) > 1;

export interface Grid {
  title: Content;
  /** The header first; all rows have the same number of cells. Empty for an empty table. */
  rows: Content[][];
}

/** The rows of a Markdown table. */
export const toGrid = (table: Row[]): Grid => {
  const title = isTitle(table) ? (table[0]?.cells[0]?.content ?? []) : [];
  const rows = isTitle(table) ? table.slice(1) : table;
  const spreadRows = expandSpans(rows).map((places, y) => ({ row: rows[y], places }));
  const filledRows = spreadRows.filter(({ places }) => places.some(isFilled));
  const declared = headerCount(filledRows.flatMap(({ row }) => row ?? []));
  const places = dropEmptyColumns(joinSigns(filledRows.map((line) => line.places)));
  const count = Math.max(declared, filledRows[0]?.row?.header === true ? 1 : groupedHeaders(places));
  const columns = [...(places[0] ?? []).keys()];
  const header = columns.map((x) => stackHeaders(places.slice(0, count), x));
  const body = places.slice(count).map((row) => bodyRow(row, columns));
  return { title, rows: columns.length === 0 ? [] : [header, ...body] };
};
