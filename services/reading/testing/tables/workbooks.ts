import { utils, write, type WorkSheet } from "@e965/xlsx";
import type { TestFile } from "./businessPages.ts";
import type { ExpectedTable } from "./facts.ts";
import { createDice, createNames, type Dice } from "./random.ts";

type Value = string | number | null;

const bookOf = (name: string, rows: Value[][], tables: ExpectedTable[], merges: string[] = []): TestFile => {
  const sheet: WorkSheet = { ...utils.aoa_to_sheet(rows), "!merges": merges.map((range) => utils.decode_range(range)) };
  const book = utils.book_new();
  utils.book_append_sheet(book, sheet, "Data");
  return { name, bytes: write(book, { type: "buffer", bookType: "xlsx" }) as Buffer, truth: { tables, pairs: [] } };
};

interface Grid {
  header: string[];
  rows: (string | number)[][];
}

const drawGrid = (dice: Dice, names: () => string, columns = dice.between(3, 5)): Grid => ({
  header: [dice.oneOf(["Product", "Region", "Account"]), ...["North", "South", "East", "West"].slice(0, columns - 1)],
  rows: Array.from({ length: dice.between(3, 8) }, () => [
    names(),
    ...Array.from({ length: columns - 1 }, () => dice.between(10, 9_000)),
  ]),
});

const truthOf = ({ header, rows }: Grid): ExpectedTable => ({ header, rows: rows.map((row) => row.map(String)) });

/** Empty columns between the columns of one table. */
export const spacerColumns = (seed: number): TestFile => {
  const dice = createDice(seed);
  const names = createNames(dice);
  const grid = drawGrid(dice, names);
  // a label column, then figures with spacers between all or groups of them
  const groups = dice.oneOf([1, 2]);
  const spread = (row: (string | number)[], header = false): Value[] =>
    row.flatMap((cell, at): Value[] => {
      const spacer = at > 0 && (groups === 1 || at % 2 === 1 || at === 1);
      return spacer ? [null, header && at === 0 ? null : cell] : [cell];
    });
  const blankLabel = dice.chance(0.4);
  const header = blankLabel ? ["", ...grid.header.slice(1)] : grid.header;
  const rows: Value[][] = [spread(header.map((cell) => cell)), ...grid.rows.map((row) => spread(row))];
  if (blankLabel) rows[0]![0] = null;
  const titled: Value[][] = dice.chance(0.5) ? [["Overview of the year"], [], ...rows] : rows;
  return bookOf("spacers.xlsx", titled, [truthOf({ ...grid, header })]);
};

/** Several tables on a sheet, below each other or side by side. */
export const severalBlocks = (seed: number): TestFile => {
  const dice = createDice(seed);
  const names = createNames(dice);
  const grids = Array.from({ length: dice.between(2, 3) }, () => drawGrid(dice, names, 3));
  const cells = grids.map((grid): Value[][] => [grid.header, ...grid.rows]);
  if (dice.chance(0.5)) {
    const stacked = cells.flatMap((rows, n): Value[][] =>
      n === 0 ? rows : [[], ...(dice.chance(0.5) ? [[`Part ${n + 1}`]] : []), ...rows],
    );
    return bookOf("blocks.xlsx", stacked, grids.map(truthOf));
  }
  const height = Math.max(...cells.map((rows) => rows.length));
  const wide = Array.from({ length: height }, (_, y) =>
    cells.flatMap((rows, n): Value[] => [...(n === 0 ? [] : [null]), ...(rows[y] ?? [null, null, null])]),
  );
  return bookOf("blocks.xlsx", wide, grids.map(truthOf));
};

/** Two header rows; an upper label is merged over its columns or is only in the first of them. */
export const stackedHeaders = (seed: number): TestFile => {
  const dice = createDice(seed);
  const names = createNames(dice);
  const merged = dice.chance(0.5);
  const years = dice.chance(0.5) ? ["2024", "2025"] : ["Plan", "Actual"];
  const below = ["Units", "Revenue"];
  const upper: Value[] = [null, ...years.flatMap((year): Value[] => [year, null])];
  const lower: Value[] = [dice.oneOf(["Product", "Account"]), ...years.flatMap(() => below)];
  const rows = Array.from({ length: dice.between(3, 7) }, () => [
    names(),
    ...Array.from({ length: 4 }, () => dice.between(10, 9_000)),
  ]);
  const header = [String(lower[0]), ...years.flatMap((year) => below.map((name) => `${year} / ${name}`))];
  const merges = merged ? ["B1:C1", "D1:E1"] : [];
  return bookOf("headers.xlsx", [upper, lower, ...rows], [truthOf({ header, rows })], merges);
};
