import { toSignificant } from "./stats.ts";

/**
 * A figure with its floor, which must hold, and its aim. `better`: whether the floor is a minimum or a maximum. Figures are ratios
 * to a peer in the same run, so that they are comparable across machines.
 */
export interface Verdict {
  name: string;
  value: number;
  floor: number;
  aim: number;
  better: "more" | "less";
}

type Cell = string | number | null;
export interface Table {
  title: string;
  head: string[];
  rows: Cell[][];
}

export interface Report {
  bench: string;
  tables: Table[];
  verdicts: Verdict[];
  /** Figures of the JSON line in addition to the verdicts. */
  figures: Record<string, unknown>;
}

const holds = ({ value, better }: Verdict, limit: number): boolean =>
  better === "more" ? value >= limit : value <= limit;

/** Processor time is known only on Linux, which has /proc. */
const isKnown = ({ value }: Verdict): boolean => process.platform === "linux" || !Number.isNaN(value);

/** The figures that have a floor. */
export const verdictTable = (verdicts: Verdict[]): Table => ({
  title: "Floors and aims",
  head: ["figure", "value", "floor", "", "aim", ""],
  rows: verdicts
    .filter(isKnown)
    .map((verdict) => [
      verdict.name,
      verdict.value,
      verdict.floor,
      holds(verdict, verdict.floor) ? "holds" : "FAILS",
      verdict.aim,
      holds(verdict, verdict.aim) ? "reached" : "not reached",
    ]),
});

/** Prints the tables and the JSON line (with `json` only the line). Returns whether every floor holds. */
export const print = ({ bench, tables, verdicts, figures }: Report, json: boolean): boolean => {
  const pass = verdicts.filter(isKnown).every((verdict) => holds(verdict, verdict.floor));
  if (!json) {
    for (const { title, head, rows } of [...tables, verdictTable(verdicts)])
      console.log(`\n${title}\n${formatTable([head, ...rows])}`);
    console.log();
  }
  const ratios = Object.fromEntries(verdicts.map(({ name, value }) => [name, toSignificant(value)]));
  console.log(JSON.stringify({ bench, pass, ...ratios, ...figures }));
  return pass;
};

export const formatCell = (cell: Cell): string => (typeof cell === "number" ? formatNumber(cell) : (cell ?? "-"));

const formatTable = (rows: Cell[][]): string => {
  const cells = rows.map((row) => row.map(formatCell));
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: string[]): string =>
    row.map((cell, n) => (n === 0 ? cell.padEnd(widths[n] ?? 0) : cell.padStart(widths[n] ?? 0))).join("  ");
  return cells.map((row) => `  ${line(row)}`.trimEnd()).join("\n");
};

const formatNumber = (value: number): string =>
  Number.isNaN(value)
    ? "-"
    : Math.abs(value) >= 100
      ? Math.round(value).toLocaleString("en-US")
      : String(toSignificant(value));
