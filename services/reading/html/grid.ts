import type { PhrasingContent } from "mdast";
import { plain } from "./cell.ts";

/* Cells that span become one cell for each place; stacked header rows become one. */

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

interface Place {
  content: Content;
  /** Steps right of the place where its cell begins. */
  step: number;
}

/** A hostile span must not cost more than the file itself. */
const MAX_PLACES = 200_000;
const MAX_HEADERS = 3;
const SLASH: PhrasingContent = { type: "text", value: " / " };

type Places = (Place | undefined)[];

const spread = (rows: Row[]): Places[] => {
  const places: Places[] = rows.map(() => []);
  let left = MAX_PLACES;
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
          if (line) line[x + step] ??= { content: cell.content, step };
        }
      }
      x += columns;
    }
  }
  return places;
};

const isFilled = (place: Place | undefined): boolean => place !== undefined && plain(place.content).trim() !== "";

const withoutEmpty = (rows: Places[]): Places[] => {
  const filled = new Set<number>();
  for (const row of rows) row.forEach((place, x) => void (isFilled(place) && place?.step === 0 && filled.add(x)));
  const width = Math.max(0, ...[...filled].map((x) => x + 1));
  const columns = Array.from({ length: width }, (_, x) => x).filter((x) => filled.has(x));
  return rows.map((row) => columns.map((x) => row[x]));
};

/** Rows at the top that name columns. Where none is declared, the first is, and with it what its cells span. */
const headerCount = (rows: Row[]): number => {
  const declared = rows.findIndex(({ header }) => !header);
  if (declared > 0) return declared <= MAX_HEADERS ? declared : 1;
  const first = declared === 0 ? (rows[0]?.cells ?? []) : [];
  const grouped = first.some(({ columns }) => columns > 1) && first.some((cell) => cell.rows > 1);
  const height = Math.max(1, ...first.map((cell) => cell.rows));
  return grouped && height <= MAX_HEADERS && height < rows.length ? height : 1;
};

const stacked = (rows: Places[], x: number): Content => {
  const labels: Content[] = [];
  for (const row of rows) {
    const content = row[x]?.content ?? [];
    const text = plain(content).trim();
    if (text !== "" && !labels.some((label) => plain(label).trim() === text)) labels.push(content);
  }
  // Later passes change nodes in place: what stands twice must be two.
  return structuredClone(labels).flatMap((label, index) => (index === 0 ? label : [{ ...SLASH }, ...label]));
};

/** A wide cell stands in each of its columns and rows, so that each row is whole by itself; one over all columns only once. */
const bodyRow = (row: Places, columns: number[]): Content[] => {
  const whole = columns.length > 2 && columns.every((x) => row[x]?.content === row[0]?.content);
  return columns.map((x) => (whole && x > 0 ? [] : structuredClone(row[x]?.content ?? [])));
};

/** A first row of one wide cell names the table, not a column. */
const isTitle = (rows: Row[]): boolean =>
  rows.length > 2 && rows[0]?.cells.length === 1 && (rows[0].cells[0]?.columns ?? 1) > 1;

export interface Grid {
  title: Content;
  /** The header first; every row has the same number of cells. Without any where the table says nothing. */
  rows: Content[][];
}

/** The rows of a Markdown table. */
export const gridOf = (table: Row[]): Grid => {
  const title = isTitle(table) ? (table[0]?.cells[0]?.content ?? []) : [];
  const rows = isTitle(table) ? table.slice(1) : table;
  const spreadRows = spread(rows).map((places, y) => ({ row: rows[y], places }));
  const said = spreadRows.filter(({ places }) => places.some(isFilled));
  const count = headerCount(said.flatMap(({ row }) => row ?? []));
  const places = withoutEmpty(said.map((line) => line.places));
  const columns = [...(places[0] ?? []).keys()];
  const header = columns.map((x) => stacked(places.slice(0, count), x));
  const body = places.slice(count).map((row) => bodyRow(row, columns));
  return { title, rows: columns.length === 0 ? [] : [header, ...body] };
};
