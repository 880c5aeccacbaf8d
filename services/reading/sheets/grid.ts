/** A cell that says something. */
export interface Cell {
  column: number;
  text: string;
  /** Words rather than a number, date or truth value. */
  isText: boolean;
  /** Cells of one merged area share its number; each repeats its text. */
  area: number | null;
}

/** Cells by column, of a row that has some. */
export interface Row {
  at: number;
  cells: Cell[];
}

/** Rows by number; whatever it stands in is cut along empty rows and columns. */
export type Block = Row[];

export interface Extent {
  from: number;
  to: number;
}

/** Runs of numbers that follow each other, from their sorted, distinct values. */
const runsOf = (numbers: number[]): Extent[] => {
  const runs: Extent[] = [];
  for (const number of numbers) {
    const last = runs.at(-1);
    if (last && number === last.to + 1) last.to = number;
    else runs.push({ from: number, to: number });
  }
  return runs;
};

export const columnsOf = (block: Block): number[] => {
  const columns = new Set<number>();
  for (const { cells } of block) for (const { column } of cells) columns.add(column);
  return [...columns].toSorted((one, other) => one - other);
};

/** A row of names: at least two, and nothing but words. */
const isHeader = ({ cells }: Row): boolean => cells.length > 1 && cells.every(({ isText }) => isText);

const grown = (extent: Extent | undefined, { cells }: Row): Extent => ({
  from: Math.min(extent?.from ?? Infinity, cells[0]!.column),
  to: Math.max(extent?.to ?? -1, cells.at(-1)!.column),
});

/** The columns of each row and all before it. */
const growing = (rows: Row[]): Extent[] => {
  const extents: Extent[] = [];
  for (const row of rows) extents.push(grown(extents.at(-1), row));
  return extents;
};

/** Numbers of rows that share no column with any row above them: tables that touch only at a corner. */
const corners = (band: Block): Set<number> => {
  const above = growing(band);
  const below = growing(band.toReversed()).toReversed();
  const apart = band.filter((_, index) => {
    const [one, other] = [above[index - 1], below[index]!];
    return one !== undefined && (one.to < other.from || other.to < one.from);
  });
  return new Set(apart.map(({ at }) => at));
};

const cut = (block: Block, begins: (row: Row, before: Row) => boolean): Block[] => {
  const pieces: Block[] = [];
  for (const row of block) {
    const last = pieces.at(-1);
    if (last && !begins(row, last.at(-1)!)) last.push(row);
    else pieces.push([row]);
  }
  return pieces;
};

const splitRows = (block: Block): Block[] =>
  cut(block, (row, before) => row.at > before.at + 1).flatMap((band) => {
    const begin = corners(band);
    return cut(band, ({ at }) => begin.has(at));
  });

/** Side by side there are few tables. */
const NEAR = 16;

/** A table may have one empty row inside: what follows has the same columns and no header of its own. */
const joinContinued = (parts: Block[]): Block[] => {
  const joined: { block: Block; columns: string }[] = [];
  for (const block of parts) {
    const numbers = columnsOf(block);
    const columns = numbers.length > 1 ? `${numbers[0]}-${numbers.at(-1)}` : "";
    const continues = (above: { block: Block; columns: string }): boolean =>
      above.columns === columns && above.block.length > 1 && above.block.at(-1)!.at === block[0]!.at - 2;
    const above = columns === "" || isHeader(block[0]!) ? undefined : joined.slice(-NEAR).findLast(continues);
    if (above && isHeader(above.block[0]!)) for (const row of block) above.block.push(row);
    else joined.push({ block, columns });
  }
  return joined.map(({ block }) => block);
};

/** An empty column parts two tables, but beside a single column it is only space between label and figures. */
const parts = (left: Extent, right: Extent): boolean =>
  right.from - left.to > 2 || (left.to > left.from && right.to > right.from);

const splitColumns = (block: Block): Block[] => {
  const sides: Extent[] = [];
  for (const run of runsOf(columnsOf(block))) {
    const last = sides.at(-1);
    if (last && !parts(last, run)) last.to = run.to;
    else sides.push(run);
  }
  if (sides.length === 1) return [block];
  return sides.map(({ from, to }) =>
    block
      .map(({ at, cells }) => ({ at, cells: cells.filter(({ column }) => column >= from && column <= to) }))
      .filter(({ cells }) => cells.length > 0),
  );
};

/** The tables and notes of a sheet, top to bottom and left to right. */
export const blocksOf = (sheet: Block): Block[] => {
  const bands = splitRows(sheet);
  const blocks = bands.flatMap((band) => {
    const sides = splitColumns(band);
    return sides.length === 1 ? [band] : sides.flatMap(blocksOf);
  });
  return joinContinued(blocks);
};
