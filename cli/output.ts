import { readFileSync } from "node:fs";

export const readJsonFile = <T>(path: string): T => JSON.parse(readFileSync(path, "utf8")) as T;

/** Rows of two or more columns, aligned. */
export function table(rows: string[][]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column]!)).join("  ").trimEnd()).join("\n");
}
