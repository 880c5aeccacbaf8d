/** A cell with content. */
export interface Cell {
  column: number;
  text: string;
  /** The address that it leads to. */
  link?: string;
  /** Text rather than a number, date or truth value. */
  isText: boolean;
  /** The number of its merged area; all cells of the area repeat its text. */
  area: number | null;
}

/** A row with content; its cells are sorted by column. */
export interface Row {
  at: number;
  cells: Cell[];
}

/** Sorted rows of a sheet or a part of it. */
export type Block = Row[];

export interface Extent {
  from: number;
  to: number;
}

/** Runs of consecutive numbers. `numbers`: sorted and distinct. */
const consecutiveRuns = (numbers: number[]): Extent[] => {
  const runs: Extent[] = [];
  for (const number of numbers) {
    const last = runs.at(-1);
    if (last && number === last.to + 1) last.to = number;
    else runs.push({ from: number, to: number });
  }
  return runs;
};

export const usedColumns = (block: Block): number[] => {
  const columns = new Set<number>();
  for (const { cells } of block) for (const { column } of cells) columns.add(column);
  return [...columns].toSorted((one, other) => one - other);
};

/** Whether a row is a header: at least two cells, all of them text. */
const isHeader = ({ cells }: Row): boolean => cells.length > 1 && cells.every(({ isText }) => isText);

/** Years and dates as they are displayed: `2024`, `2024-12-31`, `Dec 2024`, `Dec-24`. */
const PERIOD = /^(?:(?:19|20)\d\d(?:-\d\d-\d\d)?|\p{L}{3,9}[ -](?:(?:19|20)\d\d|\d\d))$/u;

const isPeriod = ({ isText, text }: Cell): boolean => !isText && PERIOD.test(text);

/**
 * Whether a row names columns by at least two years or dates, which are no text. Rows of data may have some, too, but then the
 * row below has them as well.
 */
const namesPeriods = ({ cells }: Row, below: Row | undefined): boolean => {
  const periods = cells.filter(({ isText }) => !isText);
  const isDistinct = new Set(periods.map(({ text }) => text)).size === periods.length;
  return periods.length > 1 && isDistinct && periods.every(isPeriod) && below?.cells.some(isPeriod) === false;
};

const extend = (extent: Extent | undefined, { cells }: Row): Extent => ({
  from: Math.min(extent?.from ?? Infinity, cells[0]!.column),
  to: Math.max(extent?.to ?? -1, cells.at(-1)!.column),
});

/** For each row, the extent of the columns of it and all rows before. */
const cumulativeExtents = (rows: Row[]): Extent[] => {
  const extents: Extent[] = [];
  for (const row of rows) extents.push(extend(extents.at(-1), row));
  return extents;
};

/** Rows that share no column with any row above: tables that touch only at a corner. */
const diagonalRows = (band: Block): Set<number> => {
  const above = cumulativeExtents(band);
  const below = cumulativeExtents(band.toReversed()).toReversed();
  const apart = band.filter((_, index) => {
    const [one, other] = [above[index - 1], below[index]!];
    return one !== undefined && (one.to < other.from || other.to < one.from);
  });
  return new Set(apart.map(({ at }) => at));
};

const splitWhere = (block: Block, begins: (row: Row, before: Row) => boolean): Block[] => {
  const pieces: Block[] = [];
  for (const row of block) {
    const last = pieces.at(-1);
    if (last && !begins(row, last.at(-1)!)) last.push(row);
    else pieces.push([row]);
  }
  return pieces;
};

const splitRows = (block: Block): Block[] =>
  splitWhere(block, (row, before) => row.at > before.at + 1).flatMap((band) => {
    const begin = diagonalRows(band);
    return splitWhere(band, ({ at }) => begin.has(at));
  });

/** Tables that may be side by side. */
const MAX_NEIGHBOURS = 16;

const isTop = (block: Block, index: number): boolean => {
  const row = block[index];
  return row !== undefined && (isHeader(row) || namesPeriods(row, block[index + 1]));
};

/** Whether a table begins: a header, or a title above one. */
const beginsTable = (block: Block): boolean => isTop(block, 0) || (block[0]?.cells.length === 1 && isTop(block, 1));

/** Whether the first row below the titles names the columns. */
const hasHeader = (block: Block): boolean =>
  isTop(
    block,
    block.findIndex(({ cells }) => cells.length > 1),
  );

/** Joins blocks that an empty row separates, if the second has the same columns and no header. */
const joinContinued = (separates: Block[]): Block[] => {
  const joined: { block: Block; columns: string }[] = [];
  for (const block of separates) {
    const numbers = usedColumns(block);
    const columns = numbers.length > 1 ? `${numbers[0]}-${numbers.at(-1)}` : "";
    const continues = (above: { block: Block; columns: string }): boolean =>
      above.columns === columns && above.block.length > 1 && above.block.at(-1)!.at === block[0]!.at - 2;
    const above = columns === "" || beginsTable(block) ? undefined : joined.slice(-MAX_NEIGHBOURS).findLast(continues);
    if (above && hasHeader(above.block)) for (const row of block) above.block.push(row);
    else joined.push({ block, columns });
  }
  return joined.map(({ block }) => block);
};

/** An empty column separates two tables, but next to a single column it is only space between labels and figures. */
const areApart = (left: Extent, right: Extent): boolean =>
  right.from - left.to > 2 || (left.to > left.from && right.to > right.from);

/** The rows of each side, in one pass, because a sheet has up to millions of cells and thousands of sides. */
const rowsOfSides = (block: Block, sides: readonly Extent[]): Block[] => {
  const sideOf = new Map<number, Block>();
  const found = sides.map(({ from, to }) => {
    const side: Block = [];
    for (let column = from; column <= to; column += 1) sideOf.set(column, side);
    return side;
  });
  for (const { at, cells } of block) {
    for (const cell of cells) {
      const side = sideOf.get(cell.column);
      const row = side?.at(-1);
      if (row?.at === at) row.cells.push(cell);
      else side?.push({ at, cells: [cell] });
    }
  }
  return found;
};

/** A side and its rows, each with whether it begins with a text. */
interface Side extends Extent {
  labels: Map<number, boolean>;
}

const addLabels = (side: Side, rows: Block): void => {
  for (const { at, cells } of rows) if (!side.labels.has(at)) side.labels.set(at, cells[0]!.isText);
};

/** What is written where there is no figure. */
const NO_FIGURE = /^(?:n\/?[am]\.?|tb[ad]|[-–—.*]+)$/i;

const isFigure = ({ isText, text }: Cell): boolean => !isText || NO_FIGURE.test(text.trim());

/** Share of figures with a label; totals may have none. */
const MIN_LABELLED = 0.75;

/**
 * Whether rows have only figures, so that their labels are on the side to their left. If that has figures of its own, it has some
 * in each of these rows: a longer table beside it is another one.
 */
const areFiguresOf = ({ labels, from, to }: Side, right: Block): boolean => {
  const figures = right.filter((row) => row.cells.every(isFigure) || !isHeader(row));
  const labelled = figures.filter(({ at }) => labels.get(at) === true);
  return (
    figures.length > 1 &&
    labelled.length >= figures.length * MIN_LABELLED &&
    figures.every(({ at, cells }) => cells.every(isFigure) && (from === to || labels.has(at))) &&
    figures.length >= right.length - 2
  );
};

const splitColumns = (block: Block): Block[] => {
  const runs = consecutiveRuns(usedColumns(block));
  if (runs.length < 2) return [block];
  const sides: Side[] = [];
  for (const [index, rows] of rowsOfSides(block, runs).entries()) {
    const run = runs[index]!;
    const last = sides.at(-1);
    if (last && (!areApart(last, run) || areFiguresOf(last, rows))) {
      last.to = run.to;
      addLabels(last, rows);
    } else {
      const side: Side = { ...run, labels: new Map() };
      addLabels(side, rows);
      sides.push(side);
    }
  }
  return sides.length === 1 ? [block] : rowsOfSides(block, sides);
};

/** Splits a sheet along empty rows and columns into its tables and notes, top to bottom and left to right. */
export const splitBlocks = (sheet: Block): Block[] => {
  const bands = splitRows(sheet);
  const blocks = bands.flatMap((band) => {
    const sides = splitColumns(band);
    return sides.length === 1 ? [band] : sides.flatMap(splitBlocks);
  });
  return joinContinued(blocks);
};
