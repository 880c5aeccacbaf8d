import { hasValueCells, isValue, type BorderlessTable } from "./borderlessTable.ts";
import { boundingBox, overlap } from "./geometry.ts";
import { lineText, splitCells, type Line } from "./lines.ts";
import { trimTable } from "./ruledTables.ts";
import { cellTexts, toCellLine } from "./tableCells.ts";
import { groupRows, isNumber, rowTexts } from "./wrappedRows.ts";

/* Reads tables with mostly empty cells, such as the items of an estimate: parts have a price, labor has hours. No row shows all columns, but the names above them do (ADR 83). */

/** Minimum names; fewer may be above any text. */
const MIN_NAMES = 4;
/** Minimum space between two columns that all rows leave free, as a multiple of the text's size. */
const MIN_SPACE = 0.25;
const MIN_ROWS = 3;
const MAX_HEADER_LINES = 3;
/** Maximum columns without any value, such as an unused discount. */
const MAX_EMPTY = 2;
/** Minimum share of the lines with a value; others are wrapped labels and section names. */
const MIN_VALUES = 0.5;

interface Space {
  x0: number;
  x1: number;
}

/** The widest part of a space that a line leaves free. */
function freePart({ x0, x1 }: Space, { runs }: Line): Space {
  let [from, widest] = [x0, { x0, x1: x0 }];
  const end = { x0: x1, x1 };
  for (const run of [...runs.filter((one) => one.x1 > x0 && one.x0 < x1), end]) {
    if (run.x0 - from > widest.x1 - widest.x0) widest = { x0: from, x1: run.x0 };
    from = Math.max(from, run.x1);
  }
  return widest;
}

/** The spaces between the names of a header that the lines below leave free. `used`: how many lines leave all of them free. */
function freeSpaces(names: readonly Space[], size: number, lines: readonly Line[]): { spaces: Space[]; used: number } {
  let spaces = names.slice(1).map((name, index): Space => ({ x0: names[index]!.x1, x1: name.x0 }));
  let used = 0;
  for (const line of lines) {
    const left = spaces.map((space) => freePart(space, line));
    if (left.some(({ x0, x1 }) => x1 - x0 < size * MIN_SPACE)) break;
    spaces = left;
    used++;
  }
  return { spaces, used };
}

/** The index of the line that names the columns: of the lines before the first value, the one with the most texts. */
function findNames(lines: readonly Line[]): number {
  const counts = lines.slice(0, MAX_HEADER_LINES).map((line) => splitCells(line).length);
  const first = lines.findIndex(hasValueCells);
  const before = counts.slice(0, first === -1 ? counts.length : first);
  return before.lastIndexOf(Math.max(...before));
}

const extentOf = (runs: readonly Space[]): Space => ({
  x0: Math.min(...runs.map(({ x0 }) => x0)),
  x1: Math.max(...runs.map(({ x1 }) => x1)),
});

/** The texts of a header's upper lines above each column. */
const textsOver = (column: Space, lines: readonly Line[]): string[] =>
  lines.flatMap((line) =>
    splitCells(line)
      .filter((runs) => overlap(column.x0, column.x1, runs[0]!.x0, runs.at(-1)!.x1) > 0)
      .map((runs) => lineText(line, runs)),
  );

/**
 * Reads lines below a line of names as a table, if nearly all names have values below them; null if they form none. `above`: finds
 * more header lines.
 */
export function readSparseTable(
  lines: readonly Line[],
  above: (gaps: readonly number[]) => Line[],
): BorderlessTable | null {
  const at = findNames(lines);
  const header = lines[at];
  if (header === undefined) return null;
  const [names, below] = [splitCells(header), lines.slice(at + 1)];
  const texts = names.map((name) => lineText(header, name));
  if (names.length < MIN_NAMES || texts.some(isNumber)) return null;
  const { spaces, used } = freeSpaces(names.map(extentOf), header.size, below);
  const gaps = spaces.map(({ x0, x1 }) => (x0 + x1) / 2);
  const cells = below.slice(0, used).map((line) => toCellLine(line, gaps));
  const values = cells.map((one) => cellTexts(one).map((text, column) => column > 0 && isValue(text)));
  const withValues = values.filter((row) => row.includes(true)).length;
  if (withValues < Math.max(MIN_ROWS, used * MIN_VALUES)) return null;
  const filled = names.filter((_, column) => cells.some((one) => one.cells[column]!.length > 0));
  if (filled.length < Math.max(MIN_NAMES - 1, names.length - MAX_EMPTY)) return null;
  const over = at === 0 ? above(gaps) : lines.slice(0, at);
  const columns = names.map((name, column) => extentOf([...name, ...cells.flatMap((one) => one.cells[column]!)]));
  const head = columns.map((column, index) => [...textsOver(column, over), texts[index]!].join(" "));
  const table = trimTable([head, ...groupRows(cells).map(rowTexts)]);
  const box = boundingBox([...over, ...lines.slice(0, at + used + 1)]);
  return table && { table: { ...box, rows: table }, used: at + used + 1, gaps };
}
