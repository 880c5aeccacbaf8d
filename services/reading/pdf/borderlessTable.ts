import { boundingBox, median, width } from "./geometry.ts";
import { lineText, type Line, splitCells } from "./lines.ts";
import { DOT_LEADERS, LIST_MARKER } from "./patterns.ts";
import { trimTable, type Table } from "./ruledTables.ts";
import { type CellLine, cellTexts, columnAt, dropSignColumns, findGaps, toCellLine } from "./tableCells.ts";
import { headerTexts } from "./tableHeader.ts";
import { groupRows, isNumber, rowTexts } from "./wrappedRows.ts";

/** Minimum width of a prose line that spans columns, as a share of the table's width. */
const MAX_SPANNING_WIDTH = 0.7;
const MAX_COLUMNS = 60;

const isYear = (text: string): boolean => /^(?:FY ?)?(?:19|20)\d\d[a-z]?$/i.test(text);

/** A number other than a year. */
export const isValue = (text: string): boolean => isNumber(text) && !isYear(text);

/** Whether the texts of a line look like cells. */
export const isRowLike = (line: Line): boolean => {
  const cells = splitCells(line);
  if (cells.length < 2) return false;
  const text = lineText(line);
  return !DOT_LEADERS.test(text) && !(cells.length === 2 && LIST_MARKER.test(text));
};

/** Maximum words of a label beside its value. */
const MAX_LABEL_WORDS = 4;

/** Whether all rows are a short label and its value, as in a form. */
const areLabelled = (rows: readonly string[][]): boolean =>
  rows.length >= 4 &&
  rows.every(([label = "", value = ""]) => value !== "" && label !== "" && label.split(/\s/).length <= MAX_LABEL_WORDS);

/** Whether rows look like a table even without drawn lines. `apart`: space separates all rows. */
function looksLikeTable(rows: readonly string[][], apart: boolean): boolean {
  const columns = rows[0]?.length ?? 0;
  const filled = rows.flat().filter((cell) => cell !== "");
  if (rows.length < 3 || columns < 2 || filled.length < rows.length * columns * 0.5) return false;
  if (rows.filter((row) => LIST_MARKER.test(`${row[0]!} x`) && row[0]!.length < 5).length > rows.length / 2)
    return false;
  const fullRows = rows.filter((row) => row.filter((cell) => cell !== "").length >= Math.max(2, columns - 1)).length;
  if (fullRows < rows.length * 0.5) return false;
  const words = median(filled.map((cell) => cell.split(/\s/).length));
  const numbers = filled.filter(isNumber).length / filled.length;
  if (columns >= 3) return words <= (apart ? 15 : 6);
  return words <= 4 && (numbers >= 0.25 || areLabelled(rows));
}

/** The number of header lines at the top: those before the first value or the first label without others beside it. */
function headerLines(lines: readonly CellLine[]): number {
  const texts = lines.map(cellTexts);
  const hasValues = (row: readonly string[]): boolean => row.some((text, column) => column > 0 && isValue(text));
  if (texts.filter(hasValues).length < texts.length * 0.3) return 0;
  const heads = texts.findIndex(
    (row) => hasValues(row) || row.every((text, column) => (column === 0) === (text !== "")),
  );
  // two labels are two rows
  return texts.slice(0, heads).filter(([label]) => label !== "").length > 1 ? 0 : heads;
}

/** The lines before the first prose line that spans the columns. */
const withoutProse = (lines: readonly Line[], gaps: readonly number[]): Line[] => {
  const widest = width(boundingBox(lines)) * MAX_SPANNING_WIDTH;
  const prose = lines.findIndex(
    (line) =>
      splitCells(line).length === 1 &&
      width(line) > widest &&
      columnAt(gaps, line.x0 + 1) !== columnAt(gaps, line.x1 - 1),
  );
  return prose === -1 ? [...lines] : lines.slice(0, prose);
};

export interface BorderlessTable {
  table: Table;
  /** Number of leading lines that belong to it. */
  used: number;
  gaps: number[];
}

/** Lines with values that are enough to show where the columns are, whatever is above them. */
const MIN_VALUE_LINES = 3;

export const hasValueCells = (line: Line): boolean =>
  splitCells(line)
    .slice(1)
    .some((cell) => isValue(lineText(line, cell)));

/** The lines that show the columns: those with values and the most cells, because headers and labels of sums span the gaps. */
function columnLines(lines: readonly Line[]): Line[] {
  const rows = lines.filter(isRowLike);
  const values = rows.filter(hasValueCells);
  if (values.length < Math.max(MIN_VALUE_LINES, rows.length * 0.5)) return rows;
  const most = Math.max(...values.map((line) => splitCells(line).length));
  const full = values.filter((line) => splitCells(line).length >= most - 1);
  const shown = full.length >= MIN_VALUE_LINES ? full : values;
  // labels may be above and below the middle of their values
  const left = Math.min(...shown.map((line) => line.x0));
  return [...lines.filter((line) => line.x1 < left), ...shown];
}

/** The columns of the lines: the gaps that cell lines leave free. */
function findColumns(lines: readonly Line[], minGap: number): { gaps: number[]; cells: CellLine[] } {
  const rows = columnLines(lines);
  const all = findGaps(rows.length < 2 ? lines : rows, minGap, lines);
  const gaps = dropSignColumns(
    lines.map((line) => toCellLine(line, all)),
    all,
  );
  return { gaps, cells: lines.map((line) => toCellLine(line, gaps)) };
}

const columnExtents = (cells: readonly CellLine[], gaps: readonly number[]): { x0: number; x1: number }[] =>
  [...gaps, 0].map((_, column) => {
    const runs = cells.flatMap((one) => one.cells[column]!);
    return { x0: Math.min(...runs.map((run) => run.x0)), x1: Math.max(...runs.map((run) => run.x1)) };
  });

/** Reads lines as a table; null if they form none. `isFramed`: the lines are between drawn ones, so less evidence is sufficient. `above`: finds header lines. */
export function readBorderlessTable(
  given: readonly Line[],
  isFramed: boolean,
  above: (gaps: readonly number[], hasHeader: boolean) => Line[] = () => [],
): BorderlessTable | null {
  const size = median(given.map((line) => line.size));
  const minGap = size * (isFramed ? 0.5 : 0.8);
  const lines = isFramed ? [...given] : withoutProse(given, findColumns(given, minGap).gaps);
  if (lines.length < 2) return null;
  const { gaps, cells } = findColumns(lines, minGap);
  if (gaps.length === 0 || gaps.length > MAX_COLUMNS) return null;
  const heads = headerLines(cells);
  const rows = groupRows(cells.slice(heads));
  const texts = rows.map(rowTexts);
  const startsWithValues = texts[0]?.some((text, column) => column > 0 && isValue(text)) ?? false;
  const over = [...above(gaps, heads > 0 || !startsWithValues), ...lines.slice(0, heads)];
  const header = over.length === 0 ? [] : [headerTexts(over, columnExtents(cells.slice(heads), gaps), gaps)];
  const all = [...header, ...texts];
  if (
    !isFramed &&
    !looksLikeTable(
      all,
      rows.some((row) => row.length > 1),
    )
  )
    return null;
  if (all.flat().some((cell) => cell.split(/\s/).length > 25)) return null;
  const withCells = all.filter((row) => row.filter((cell) => cell !== "").length > 1).length;
  if (withCells < 2 || withCells < all.length * 0.5) return null;
  const table = trimTable(all);
  return table && { table: { ...boundingBox([...over, ...lines]), rows: table }, used: lines.length, gaps };
}
