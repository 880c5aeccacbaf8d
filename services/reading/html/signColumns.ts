import type { List, PhrasingContent } from "mdast";
import { plainText } from "./cellContent.ts";

/* Web pages made from print align figures and lists with separate columns for signs. */

const CURRENCY = /^(?:[A-Z]{0,3}[$€£¥₹]|[A-Z]{3})$/;
const CLOSING = /^[)%‰]{1,3}$/;
const NUMBER_START = /^[-–—−(]?\s*[\d.—–-]/;
const NUMBER = /^(?:[A-Z]{0,3}[$€£¥₹])?\s*[-–—−(]?\s*[\d.,—–-]/;
const BULLET = /^[•●○◦▪■□‣⁃·∙➢✓✔§*–—-]$/;

type Content = PhrasingContent[];

interface SignCell {
  content: Content;
  columns: number;
}

const textOf = (cell: { content: Content } | undefined): string => (cell ? plainText(cell.content).trim() : "");

/** Replaces the content of a cell in all columns that it spans. */
function replaceContent<Cell extends SignCell>(row: (Cell | undefined)[], place: number, content: Content): void {
  const old = row[place]?.content;
  let from = place;
  while (from > 0 && row[from - 1]?.content === old) from -= 1;
  for (let x = from; ; x += 1) {
    const cell = row[x];
    if (!cell || cell.content !== old) break;
    row[x] = { ...cell, content };
  }
}

/**
 * Moves a currency sign from its own cell before the number on its right, and a bracket or percent sign after the number on its
 * left, which may span the column of a currency sign. Their old cells become empty.
 */
export function joinSigns<Cell extends SignCell>(row: readonly (Cell | undefined)[]): (Cell | undefined)[] {
  const joined = [...row];
  for (const [x, cell] of row.entries()) {
    if (!cell || cell.columns > 1) continue;
    const sign = textOf(cell);
    const isClosing = CLOSING.test(sign);
    const step = isClosing ? -1 : 1;
    if (!isClosing && !CURRENCY.test(sign)) continue;
    const place = textOf(joined[x + step]) === "" ? x + 2 * step : x + step;
    const number = joined[place];
    if (!number || !(isClosing ? NUMBER : NUMBER_START).test(textOf(number))) continue;
    replaceContent(
      joined,
      place,
      isClosing ? [...number.content, ...cell.content] : [...cell.content, ...number.content],
    );
    joined[x] = { ...cell, content: [] };
  }
  return joined;
}

/** The list that a table of bullets and texts represents; undefined for other tables. */
export function bulletList(rows: readonly { cells: readonly SignCell[] }[]): List | undefined {
  const filled = rows
    .map(({ cells }) => cells.filter((cell) => textOf(cell) !== ""))
    .filter((cells) => cells.length > 0);
  const isList = filled.every((cells) => cells.length === 2 && BULLET.test(textOf(cells[0])));
  if (filled.length === 0 || !isList) return undefined;
  return {
    type: "list",
    ordered: false,
    spread: false,
    children: filled.map(([, text]) => ({
      type: "listItem",
      spread: false,
      children: [{ type: "paragraph", children: text!.content }],
    })),
  };
}
