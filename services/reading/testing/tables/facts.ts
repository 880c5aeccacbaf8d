import { splitLine, tableLines } from "../markdownTables.ts";

/* The facts in a table: each value with the label of its row and the header of its column. */

/** A table as a person reads it; stacked headers are one text. */
export interface ExpectedTable {
  header: string[];
  rows: string[][];
}

export interface GroundTruth {
  tables: ExpectedTable[];
  /** Labels with their values, beside or below them. */
  pairs: [label: string, value: string][];
}

/** Shares from 0 to 1; null if the truth has nothing of the kind. */
export interface TableScores {
  /** Share of cells in the row of their label. */
  inRow: number | null;
  /** Share of cells in the row of their label and under their header. */
  underHeader: number | null;
  /** Cells of the tables found that are right; those of tables that the truth does not have count as wrong. */
  precision: number | null;
  /** Labels that have their value beside or below them. */
  pairs: number | null;
}

const bare = (text: string): string =>
  text
    .replaceAll("<br>", " ")
    .replace(/[^\p{L}\p{N}%().-]/gu, "")
    .toLowerCase();

const tablesIn = (markdown: string): ExpectedTable[] =>
  tableLines(markdown).map((lines) => {
    const rows = lines.map(splitLine);
    return { header: rows[0]!, rows: rows.slice(2) };
  });

/** The cells of a table with their label, and with label and header; empty cells are left out. */
const cellsOf = ({ header, rows }: ExpectedTable): { inRow: string; full: string }[] =>
  rows.flatMap((row) =>
    row.slice(1).flatMap((cell, index) => {
      const [label, value, name] = [bare(row[0] ?? ""), bare(cell), bare(header[index + 1] ?? "")];
      return value === "" ? [] : [{ inRow: `${label}|${value}`, full: `${label}|${name}|${value}` }];
    }),
  );

const countOf = (keys: readonly string[]): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
};

/** How many of the keys are among the others, each used once. */
const countCommon = (keys: readonly string[], others: readonly string[]): number => {
  const left = countOf(others);
  return keys.filter((key) => {
    const count = left.get(key) ?? 0;
    left.set(key, count - 1);
    return count > 0;
  }).length;
};

const share = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);

/** Whether a table, a line or a paragraph gives the label its value. */
const hasPair = (markdown: string, tables: readonly ExpectedTable[], [label, value]: [string, string]): boolean => {
  const [name, wanted] = [bare(label), bare(value)];
  const beside = tables.some(({ header, rows }) => {
    const all = [header, ...rows];
    return all.some((row, y) =>
      row.some((cell, x) => {
        if (bare(cell) === name + wanted) return true;
        const next = row.slice(x + 1).find((other) => other !== "");
        return bare(cell) === name && (bare(next ?? "") === wanted || bare(all[y + 1]?.[x] ?? "") === wanted);
      }),
    );
  });
  const lines = markdown.split("\n").map((line) => bare(line));
  return beside || lines.some((line, at) => line === name + wanted || (line === name && lines[at + 2] === wanted));
};

export const scoreTables = (truth: GroundTruth, markdown: string): TableScores => {
  const found = tablesIn(markdown);
  const [right, read] = [truth.tables.flatMap(cellsOf), found.flatMap(cellsOf)];
  const common = countCommon(
    right.map(({ full }) => full),
    read.map(({ full }) => full),
  );
  const inRow = countCommon(
    right.map((cell) => cell.inRow),
    read.map((cell) => cell.inRow),
  );
  return {
    inRow: share(inRow, right.length),
    underHeader: share(common, right.length),
    // labels and values may be tables too, so files with pairs have no precision
    precision: truth.pairs.length > 0 || right.length === 0 ? null : (share(common, read.length) ?? 0),
    pairs: share(truth.pairs.filter((pair) => hasPair(markdown, found, pair)).length, truth.pairs.length),
  };
};
