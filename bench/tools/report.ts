import { rounded } from "./stats.ts";

/** A figure with the floor that it must hold and the aim behind it; `most` where less is better. */
export interface Verdict {
  name: string;
  value: number;
  floor: number;
  aim: number;
  better: "more" | "less";
}

export interface Report {
  bench: string;
  tables: { title: string; head: string[]; rows: (string | number | null)[][] }[];
  verdicts: Verdict[];
  /** Figures of the JSON line beside the verdicts. */
  figures: Record<string, unknown>;
}

const holds = ({ value, better }: Verdict, limit: number): boolean =>
  better === "more" ? value >= limit : value <= limit;

/** Prints tables and the JSON line (with `json` only the line); answers whether every floor holds. */
export const print = ({ bench, tables, verdicts, figures }: Report, json: boolean): boolean => {
  const pass = verdicts.every((verdict) => holds(verdict, verdict.floor));
  if (!json) {
    for (const table of tables) console.log(`\n${table.title}\n${layOut([table.head, ...table.rows])}`);
    const rows = verdicts.map((verdict) => [
      verdict.name,
      verdict.value,
      verdict.floor,
      holds(verdict, verdict.floor) ? "holds" : "FAILS",
      verdict.aim,
      holds(verdict, verdict.aim) ? "reached" : "not reached",
    ]);
    console.log(`\nFloors and aims\n${layOut([["figure", "value", "floor", "", "aim", ""], ...rows])}\n`);
  }
  const ratios = Object.fromEntries(verdicts.map(({ name, value }) => [name, rounded(value)]));
  console.log(JSON.stringify({ bench, pass, ...ratios, ...figures }));
  return pass;
};

const layOut = (rows: (string | number | null)[][]): string => {
  const cells = rows.map((row) => row.map((cell) => (typeof cell === "number" ? spell(cell) : (cell ?? "-"))));
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: string[]): string =>
    row.map((cell, n) => (n === 0 ? cell.padEnd(widths[n] ?? 0) : cell.padStart(widths[n] ?? 0))).join("  ");
  return cells.map((row) => `  ${line(row)}`.trimEnd()).join("\n");
};

const spell = (value: number): string =>
  Math.abs(value) >= 100 ? Math.round(value).toLocaleString("en-US") : String(rounded(value));
