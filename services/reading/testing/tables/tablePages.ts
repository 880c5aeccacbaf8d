import { line, pdfOf, show } from "../../pdf/testing/build.ts";
import type { TestFile } from "./businessPages.ts";
import {
  drawCell,
  pickPageStyle,
  drawProse,
  drawRow,
  drawRule,
  layOutColumns,
  type Align,
  type Column,
  type PageStyle,
  type Sheet,
} from "./draw.ts";
import type { ExpectedTable } from "./facts.ts";
import { createDice, createNames, money, type Dice } from "./random.ts";

const pageOf = (sheet: Sheet): string => sheet.operators.join("\n");

const endOf = (columns: readonly Column[]): number => columns.at(-1)!.x + columns.at(-1)!.width;

const fileOf = (name: string, pages: readonly string[], table: ExpectedTable): TestFile => ({
  name,
  bytes: pdfOf(pages),
  truth: { tables: [table], pairs: [] },
});

const start = (dice: Dice, look: PageStyle): Sheet => {
  const sheet: Sheet = { operators: [show(60, 765, 15, "Report of the year", "bold")], y: dice.between(700, 740) };
  drawProse(sheet, dice, look);
  return sheet;
};

const amount = (dice: Dice, dollars: boolean): string => {
  const text = money(dice.between(5, 90_000), 0);
  return `${dollars ? "$" : ""}${dice.chance(0.15) ? `(${text})` : text}`;
};

/** A financial statement: years under a header over several columns, sections, long labels that wrap, dollar signs, totals. */
export const statement = (seed: number): TestFile => {
  const dice = createDice(seed);
  const [look, names] = [pickPageStyle(dice), createNames(dice)];
  const sheet = start(dice, look);
  const years = dice.between(2, 4);
  const columns = layOutColumns(
    [dice.between(140, 190), ...Array.from({ length: years }, () => 55)],
    ["left", ...Array.from({ length: years }, (): Align => "right")],
    dice.between(9, 20),
  );
  const heads = Array.from({ length: years }, (_, n) => String(2024 - n));
  const over = dice.oneOf(["Year ended December 31,", "(in thousands)", "Three months ended March 31,"]);
  const spanner: Column = { x: columns[1]!.x, width: endOf(columns) - columns[1]!.x, align: "center" };
  const spanned = dice.chance(0.7);
  if (spanned) {
    sheet.operators.push(drawCell(spanner, sheet.y, over, look, look.headerFont));
    sheet.y -= look.leading;
    if (dice.chance(0.5)) {
      const y = sheet.y + look.leading * 0.75;
      sheet.operators.push(line(spanner.x, y, spanner.x + spanner.width, y));
    }
  }
  drawRow(sheet, columns, ["", ...heads], { look, font: look.headerFont });
  if (dice.chance(0.4)) drawRule(sheet, 60, endOf(columns), look);
  const rows: string[][] = [];
  const apart = dice.chance(0.5);
  for (let section = 0; section < dice.between(2, 3); section++) {
    drawRow(sheet, columns, [`${names(1)} ${dice.oneOf(["income", "costs", "assets"])}:`], { look });
    for (let n = dice.between(2, 5); n >= 0; n--) {
      const total = n === 0;
      const label = total ? `Total ${names()}` : names(dice.oneOf([2, 2, 3, 7]));
      const dollars = total || n === 3;
      const cells = heads.map(() => amount(dice, dollars));
      const indented = columns.map((column, at) =>
        at === 0 && !total ? { ...column, x: column.x + 8, width: column.width - 8 } : column,
      );
      const texts = apart ? cells.map((cell) => cell.replace("$", "")) : cells;
      const signs = sheet.y;
      drawRow(sheet, indented, [label, ...texts], { look, valign: dice.oneOf(["top", "bottom"]) });
      const last = sheet.y + look.rowGap + look.leading;
      if (apart && dollars && last === signs)
        for (const column of columns.slice(1))
          sheet.operators.push(drawCell({ ...column, align: "left" }, signs, "$", look));
      rows.push([label, ...(apart && last !== signs ? texts : cells)]);
      if (n === 1) drawRule(sheet, columns[1]!.x, endOf(columns), look);
    }
  }
  sheet.y -= 20;
  drawProse(sheet, dice, look);
  const header = ["", ...heads.map((head) => (spanned ? `${over} / ${head}` : head))];
  return fileOf("statement.pdf", [pageOf(sheet)], { header, rows });
};

/** A table of texts without rules, whose cells wrap. */
export const wrapped = (seed: number): TestFile => {
  const dice = createDice(seed);
  const drawn = pickPageStyle(dice);
  const look = { ...drawn, rowGap: drawn.size * dice.oneOf([0.4, 0.7, 1]) };
  const names = createNames(dice);
  const sheet = start(dice, look);
  const count = dice.between(3, 4);
  const columns = layOutColumns(
    Array.from({ length: count }, () => dice.between(85, 130)),
    Array.from({ length: count }, () => "left"),
    dice.between(12, 22),
  );
  const header = ["Measure", "Responsible", "State", "Remarks"].slice(0, count);
  drawRow(sheet, columns, header, { look, font: look.headerFont });
  const rows = Array.from({ length: dice.between(4, 8) }, () => header.map(() => names(dice.oneOf([2, 3, 5, 8]))));
  for (const row of rows) drawRow(sheet, columns, row, { look });
  sheet.y -= 20;
  drawProse(sheet, dice, look);
  return fileOf("wrapped.pdf", [pageOf(sheet)], { header, rows });
};

/** A table with vertical lines only in the header, or without lines between its rows. */
export const halfRuled = (seed: number): TestFile => {
  const dice = createDice(seed);
  const [look, names] = [{ ...pickPageStyle(dice), rowGap: 5 }, createNames(dice)];
  const sheet = start(dice, look);
  const count = dice.between(3, 5);
  const columns = layOutColumns(
    [130, ...Array.from({ length: count - 1 }, () => 62)],
    ["left", ...Array.from({ length: count - 1 }, (): Align => dice.oneOf(["right", "left", "center"]))],
    14,
  );
  const kind = dice.oneOf(["walls in header", "no lines between rows", "only lines between rows"]);
  const header = ["Station", "Height", "Readings", "Mean", "Peak"].slice(0, count);
  const top = sheet.y + look.size + 1.5;
  const walls = [54, ...columns.slice(1).map((column) => column.x - 7), endOf(columns) + 7];
  drawRow(sheet, columns, header, { look, font: look.headerFont });
  const under = sheet.y + look.size + 1.5;
  const edges = [top, under];
  const rows = Array.from({ length: dice.between(4, 9) }, () => [
    names(dice.oneOf([2, 3])),
    ...header.slice(1).map(() => money(dice.between(1, 90_000) / 10, 1)),
  ]);
  for (const row of rows) {
    drawRow(sheet, columns, row, { look });
    if (kind !== "no lines between rows") edges.push(sheet.y + look.size + 1.5);
  }
  const bottom = sheet.y + look.size + 1.5;
  if (kind === "no lines between rows") edges.push(bottom);
  for (const y of edges) sheet.operators.push(line(54, y, endOf(columns) + 7, y));
  if (kind !== "only lines between rows") {
    const low = kind === "walls in header" ? under : bottom;
    for (const [at, x] of walls.entries()) {
      const outer = at === 0 || at === walls.length - 1;
      sheet.operators.push(line(x, top, x, outer ? bottom : low));
    }
  }
  sheet.y -= 20;
  drawProse(sheet, dice, look);
  return fileOf("half-ruled.pdf", [pageOf(sheet)], { header, rows });
};

/** A table over three pages with its header on the first one or on all. */
export const overPages = (seed: number): TestFile => {
  const dice = createDice(seed);
  const drawn = pickPageStyle(dice);
  const look = { ...drawn, rowGap: Math.max(2, drawn.rowGap) };
  const names = createNames(dice);
  const count = dice.between(3, 5);
  const columns = layOutColumns(
    [150, ...Array.from({ length: count - 1 }, () => 65)],
    ["left", ...Array.from({ length: count - 1 }, (): Align => "right")],
    dice.between(12, 18),
  );
  const header = ["Article", "Stock", "Ordered", "Price", "Value"].slice(0, count);
  const [repeated, ruled] = [dice.chance(0.5), dice.oneOf(["none", "all", "header"])];
  const rows: string[][] = [];
  const pages = Array.from({ length: 3 }, (_, n) => {
    const sheet = n === 0 ? start(dice, look) : { operators: [], y: 730 };
    const ys = [sheet.y + look.size + 1];
    if (n === 0 || repeated) {
      drawRow(sheet, columns, header, { look, font: look.headerFont });
      ys.push(sheet.y + look.size + 1);
    }
    const heads = ys.slice(1);
    for (let left = n === 2 ? dice.between(3, 9) : 99; left > 0 && sheet.y > 90; left--) {
      const row = [names(dice.oneOf([2, 3])), ...header.slice(1).map(() => money(dice.between(1, 90_000) / 100))];
      rows.push(row);
      drawRow(sheet, columns, row, { look });
      ys.push(sheet.y + look.size + 1);
    }
    const lines = ruled === "all" ? ys : ruled === "header" ? heads : [];
    for (const y of lines) sheet.operators.push(line(54, y, endOf(columns) + 6, y));
    if (ruled === "all")
      for (const x of [54, ...columns.slice(1).map((column) => column.x - 6), endOf(columns) + 6])
        sheet.operators.push(line(x, ys[0]!, x, ys.at(-1)!));
    if (n === 2) {
      sheet.y -= 20;
      drawProse(sheet, dice, look);
    }
    return [pageOf(sheet), show(300, 40, 8, `Page ${n + 1} of 3`)].join("\n");
  });
  return fileOf("over-pages.pdf", pages, { header, rows });
};

/** A table of a typewriter: its columns are aligned by spaces. */
export const typewriter = (seed: number): TestFile => {
  const dice = createDice(seed);
  const [look, names] = [{ ...pickPageStyle(dice), size: dice.oneOf([8, 9]) }, createNames(dice)];
  const sheet = start(dice, look);
  const count = dice.between(2, 4);
  const header = ["Account", "Opening", "Closing", "Change", "Limit"].slice(0, count + 1);
  const rows = Array.from({ length: dice.between(5, 10) }, () => [
    names(dice.oneOf([2, 3])),
    ...header.slice(1).map(() => money(dice.between(10, 900_000) / 100)),
  ]);
  const [first, gap] = [dice.between(26, 30), dice.between(11, 14)];
  const inOne = dice.chance(0.5);
  for (const row of [header, ...rows]) {
    const cells = row.map((cell, at) => (at === 0 ? cell.padEnd(first) : cell.padStart(gap)));
    if (inOne) sheet.operators.push(show(60, sheet.y, look.size, cells.join(""), "mono"));
    else {
      let x = 60;
      for (const cell of cells) {
        const shift = cell.length - cell.trimStart().length;
        sheet.operators.push(show(x + shift * look.size * 0.6, sheet.y, look.size, cell.trim(), "mono"));
        x += cell.length * look.size * 0.6;
      }
    }
    sheet.y -= look.size * 1.25;
  }
  sheet.y -= 20;
  drawProse(sheet, dice, look);
  return fileOf("typewriter.pdf", [pageOf(sheet)], { header, rows });
};
