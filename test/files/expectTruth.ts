import { expect } from "vitest";
import type { Truth } from "./index.ts";

/** Text without Markdown's marks, links and extra spaces. */
const plain = (text: string): string =>
  text
    .replaceAll(/\\([!-/:-@[-`{-~])/g, "$1")
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/[*_|]/g, " ")
    .replaceAll("’", "'")
    .replaceAll(/\s+/g, " ")
    .trim();

const cellsOf = (line: string): string[] =>
  line
    .replace(/^\s*\|/, "")
    .split(/(?<!\\)\|/)
    .map(plain);

/** Expects the file's sentences in order, its headings, its table rows and its list items in the Markdown. */
export function expectTruth(markdown: string, { name, says, headings, rows, items }: Truth): void {
  const lines = markdown.split("\n");
  const text = plain(markdown);
  let from = 0;
  for (const words of says) {
    const at = text.indexOf(plain(words), from);
    expect.soft(at, `${name} says after ${from}: ${words}`).toBeGreaterThanOrEqual(from);
    from = Math.max(from, at);
  }
  const headingLines = lines.filter((line) => /^#{1,6} /.test(line)).map((line) => plain(line.replace(/^#+/, "")));
  expect.soft(headingLines, name).toEqual(expect.arrayContaining(headings));
  const tables = lines.filter((line) => line.includes("|")).map(cellsOf);
  for (const row of rows) {
    const found = tables.some((cells) => row.every((cell, at) => cells[at] === plain(cell)));
    expect.soft(found, `${name} has the row ${row.join(", ")}`).toBe(true);
  }
  const listItems = lines
    .filter((line) => /^\s*([-*+]|\d+[.)]) /.test(line))
    .map((line) => plain(line.replace(/^\s*\S+/, "")));
  expect.soft(listItems, name).toEqual(expect.arrayContaining(items.map(plain)));
}
