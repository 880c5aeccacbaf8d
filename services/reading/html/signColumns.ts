import type { List, PhrasingContent } from "mdast";
import { plainText } from "./cellContent.ts";

/* Web pages made from print align figures and lists with separate columns for signs. */

/** Codes of large currencies. Other three letters are more often words, months or airports. */
const CODE = /^(?:AUD|BRL|CAD|CHF|CNY|CZK|DKK|EUR|GBP|HKD|HUF|INR|JPY|KRW|MXN|NOK|NZD|PLN|RUB|SEK|SGD|USD|ZAR)$/;
const CURRENCY = /^[A-Z]{0,3}[$€£¥₹]$/;
const CLOSING = /^[)%‰]{1,3}$/;
const NUMBER_START = /^[-–—−(]?\s*[\d.—–-]/;
const NUMBER = /^(?:[A-Z]{0,3}[$€£¥₹])?\s*[-–—−(]?\s*[\d.,—–-]/;
const BULLET = /^[•●○◦▪■□‣⁃·∙➢✓✔§*–—-]$/;

type Content = PhrasingContent[];

interface SignCell {
  content: Content;
  columns: number;
}
type SignRow<Cell extends SignCell> = readonly (Cell | undefined)[];

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

const isSign = (text: string): boolean => CLOSING.test(text) || CURRENCY.test(text) || CODE.test(text);

interface ColumnCount {
  signs: number;
  others: number;
}

/** Counts the signs and the other contents of each column, without cells that span several. */
function countSigns(rows: readonly SignRow<SignCell>[]): ColumnCount[] {
  const counts: ColumnCount[] = [];
  for (const row of rows) {
    for (const [x, cell] of row.entries()) {
      const text = cell?.columns === 1 ? textOf(cell) : "";
      if (text === "") continue;
      const count = (counts[x] ??= { signs: 0, others: 0 });
      count[isSign(text) ? "signs" : "others"] += 1;
    }
  }
  return counts;
}

/**
 * The places of a row's signs that belong to the number beside them. A column of mostly other contents has its own values, for
 * example percentages below `%`, or units. Currency codes that begin their row, or have a heading, name what the row is about.
 */
function placesOfSigns(row: SignRow<SignCell>, counts: readonly ColumnCount[]): number[] {
  const first = row.findIndex((cell) => textOf(cell) !== "");
  return [...row.keys()].filter((x) => {
    const text = textOf(row[x]);
    const count = counts[x];
    if (!count || row[x]?.columns !== 1 || !isSign(text)) return false;
    return CODE.test(text) ? x > first && count.others === 0 : count.signs > count.others;
  });
}

function joinInRow<Cell extends SignCell>(row: SignRow<Cell>, counts: readonly ColumnCount[]): (Cell | undefined)[] {
  const joined = [...row];
  for (const x of placesOfSigns(row, counts)) {
    const cell = row[x]!;
    const isClosing = CLOSING.test(textOf(cell));
    const step = isClosing ? -1 : 1;
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

/**
 * Moves currency signs from their own column before the numbers on their right, and brackets and percent signs after the numbers
 * on their left, which may span the column of a currency sign. Their old cells become empty.
 */
export function joinSigns<Cell extends SignCell>(rows: readonly SignRow<Cell>[]): (Cell | undefined)[][] {
  const counts = countSigns(rows);
  return rows.map((row) => joinInRow(row, counts));
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
