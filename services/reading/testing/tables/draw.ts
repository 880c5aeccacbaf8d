import { type Font, line, show, widthOf } from "../../pdf/testing/build.ts";
import type { Dice } from "./random.ts";

export type Align = "left" | "right" | "center";

export interface Column {
  x: number;
  width: number;
  align: Align;
}

/** How a file is set: drawn once for each file. */
export interface PageStyle {
  size: number;
  /** Distance of the baselines within a cell, in points. */
  leading: number;
  /** Additional distance between rows, in points. */
  rowGap: number;
  /** Each word is an operator of its own, as many programs write it. */
  wordByWord: boolean;
  headerFont: Font;
}

export const pickPageStyle = (dice: Dice): PageStyle => {
  const size = dice.oneOf([7.5, 8, 9, 10, 11]);
  return {
    size,
    leading: size * dice.oneOf([1.12, 1.2, 1.3]),
    rowGap: size * dice.oneOf([0, 0.3, 0.6, 1]),
    wordByWord: dice.chance(0.5),
    headerFont: dice.oneOf(["body", "bold"]),
  };
};

const textWidth = (text: string, size: number, font: Font): number =>
  font === "mono" ? text.length * size * 0.6 : widthOf(text, size) * (font === "bold" ? 1.06 : 1);

/** The operators of one line of text. */
export const drawText = (
  x: number,
  y: number,
  text: string,
  { size, wordByWord }: PageStyle,
  font: Font = "body",
): string => {
  if (!wordByWord) return show(x, y, size, text, font);
  let at = x;
  const parts: string[] = [];
  for (const word of text.split(" ")) {
    parts.push(show(at, y, size, word, font));
    at += textWidth(`${word} `, size, font);
  }
  return parts.join("\n");
};

const startOf = (column: Column, width: number): number => {
  if (column.align === "left") return column.x;
  return column.align === "right" ? column.x + column.width - width : column.x + (column.width - width) / 2;
};

/** The lines of a text in a column. */
export const wrapText = (text: string, width: number, size: number, font: Font = "body"): string[] => {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const longer = lines.length > 0 ? `${lines.at(-1)} ${word}` : word;
    if (lines.length > 0 && textWidth(longer, size, font) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
};

export const drawCell = (column: Column, y: number, text: string, look: PageStyle, font: Font = "body"): string =>
  drawText(startOf(column, textWidth(text, look.size, font)), y, text, look, font);

/** A page that is filled from above. */
export interface Sheet {
  operators: string[];
  /** Baseline of the next line, in points from the lower edge. */
  y: number;
}

/** Draws a row; long texts wrap. Returns the lower edge. */
export const drawRow = (
  sheet: Sheet,
  columns: readonly Column[],
  cells: readonly string[],
  { look, font = "body", valign = "top" }: { look: PageStyle; font?: Font; valign?: "top" | "middle" | "bottom" },
): void => {
  const wrapped = cells.map((cell, at) => (cell === "" ? [] : wrapText(cell, columns[at]!.width, look.size, font)));
  const height = Math.max(...wrapped.map((lines) => lines.length));
  for (const [at, lines] of wrapped.entries()) {
    const skipped = (height - lines.length) * { top: 0, middle: 0.5, bottom: 1 }[valign];
    for (const [n, text] of lines.entries()) {
      sheet.operators.push(drawCell(columns[at]!, sheet.y - (n + skipped) * look.leading, text, look, font));
    }
  }
  sheet.y -= height * look.leading + look.rowGap;
};

export const drawRule = (sheet: Sheet, x0: number, x1: number, look: PageStyle): void => {
  const y = sheet.y + look.size * 0.95 + look.rowGap / 2;
  sheet.operators.push(line(x0, y, x1, y));
};

const PROSE =
  "The figures below were compiled by the office from the records of the year and were checked by two people before they were sent out to the members of the council who had asked for them in the spring".split(
    " ",
  );

/** A paragraph of prose over the page's width. */
export const drawProse = (sheet: Sheet, dice: Dice, look: PageStyle): void => {
  const from = dice.between(0, 8);
  const text = [...PROSE.slice(from), ...PROSE].slice(0, dice.between(24, 45)).join(" ");
  for (const row of wrapText(`${text}.`, 480, look.size)) {
    sheet.operators.push(drawText(60, sheet.y, row, { ...look, wordByWord: false }));
    sheet.y -= look.leading;
  }
  sheet.y -= look.size * 1.5;
};

/** Columns side by side from x = 60 on; `gap`: between them, in points. */
export const layOutColumns = (
  widths: readonly number[],
  aligns: readonly Align[],
  gap: number,
  left = 60,
): Column[] => {
  let x = left;
  return widths.map((width, at) => {
    const column = { x, width, align: aligns[at]! };
    x += width + gap;
    return column;
  });
};
