import { line, pdfOf, show, widthOf } from "../../pdf/testing/build.ts";
import type { TestFile } from "./businessPages.ts";
import {
  drawCell,
  pickPageStyle,
  drawProse,
  drawRow,
  layOutColumns,
  type Align,
  type Column,
  type Sheet,
} from "./draw.ts";
import { createDice, createNames, money, type Dice } from "./random.ts";

/* Pages as word processors set them from tables without rules. */

const newSheet = (dice: Dice): Sheet => ({ operators: [], y: dice.between(700, 740) });

const bytesOf = ({ operators }: Sheet): Buffer => pdfOf([operators.join("\n")]);

const endOf = (columns: readonly Column[]): number => columns.at(-1)!.x + columns.at(-1)!.width;

/** An invoice with its values halfway down long descriptions, sums below the last columns, and an address beside its number. */
export const officeInvoice = (seed: number): TestFile => {
  const dice = createDice(seed);
  const [look, names] = [{ ...pickPageStyle(dice), rowGap: dice.oneOf([3, 5, 8]) }, createNames(dice)];
  const sheet = newSheet(dice);
  sheet.operators.push(show(60, sheet.y + 25, 20, "INVOICE", "bold"));
  const address = ["Bill to", names(), `${dice.between(1, 99)} ${names(1)} Street`, `${names(1)}ville`];
  const numbers = [
    ["Invoice no.", `2026-${dice.between(100, 999)}`],
    ["Date", `${dice.between(1, 28)} March 2026`],
    ["Due date", `${dice.between(1, 28)} April 2026`],
  ];
  const below = dice.chance(0.5);
  for (const [n, text] of address.entries())
    sheet.operators.push(show(60, sheet.y - n * look.leading, look.size, text));
  if (below) sheet.y -= address.length * look.leading;
  const [label, value] = layOutColumns([65, 90], ["left", "left"], 8, 400);
  for (const [name, text] of numbers) {
    sheet.operators.push(drawCell(label!, sheet.y, name!, look), drawCell(value!, sheet.y, text!, look));
    sheet.y -= look.leading + 3;
  }
  sheet.y -= look.leading * (below ? 1.5 : 3);
  const columns = layOutColumns(
    [dice.between(240, 300), 45, 52, 62],
    ["left", "right", "right", "right"],
    dice.between(9, 14),
  );
  const header = dice.oneOf([
    ["Description", "Hours", "Rate", "Amount"],
    ["Item", "Qty", "Price", "Total"],
  ]);
  drawRow(sheet, columns, header, { look, font: look.headerFont });
  const rows = Array.from({ length: dice.between(3, 7) }, () => [
    names(dice.oneOf([2, 3, 9, 12])),
    dice.oneOf(["12.5", "4.0", "1", "30"]),
    `$${money(dice.between(20, 95))}`,
    `$${money(dice.between(100, 4_000))}`,
  ]);
  for (const row of rows) drawRow(sheet, columns, row, { look, valign: "middle" });
  const sums = [
    ["Subtotal", `$${money(dice.between(4_001, 5_000))}`],
    ["Tax (8 %)", `$${money(dice.between(10, 99))}`],
    ["Total due", `$${money(dice.between(5_001, 9_000))}`],
  ];
  for (const [name, text] of sums) drawRow(sheet, columns, ["", "", name!, text!], { look });
  sheet.y -= 20;
  drawProse(sheet, dice, look);
  const pairs = [...numbers, ...sums] as [string, string][];
  return { name: "invoice.pdf", bytes: bytesOf(sheet), truth: { tables: [{ header, rows }], pairs } };
};

/** Results whose dates almost touch each other, each pair below a name over both. */
export const crowdedHeader = (seed: number): TestFile => {
  const dice = createDice(seed);
  const [drawn, names] = [pickPageStyle(dice), createNames(dice)];
  const look = { ...drawn, wordByWord: false, rowGap: drawn.size * dice.oneOf([0.2, 0.5, 0.8]) };
  const sheet = newSheet(dice);
  sheet.operators.push(show(60, sheet.y + 25, 15, "Consolidated results", "bold"));
  const dates = ["31 Dec 2025", "31 Dec 2024", "31 Dec 2025", "31 Dec 2024"];
  const width = widthOf(dates[0]!, look.size);
  const aligns: Align[] = ["left", "right", "right", "right", "right"];
  const columns = layOutColumns([170, width, width, width, width], aligns, look.size * 0.278);
  const over = ["Three months ended", "Year ended"];
  for (const [n, name] of over.entries()) {
    const [first, second] = [columns[1 + 2 * n]!, columns[2 + 2 * n]!];
    const box: Column = { x: first.x, width: second.x + second.width - first.x, align: "center" };
    sheet.operators.push(drawCell(box, sheet.y, name, look));
    const y = sheet.y - look.size * 0.3;
    if (dice.chance(0.5)) sheet.operators.push(line(box.x, y, box.x + box.width, y));
  }
  sheet.y -= look.leading;
  sheet.operators.push(
    drawCell({ ...columns[1]!, width: endOf(columns) - columns[1]!.x }, sheet.y, dates.join(" "), look),
  );
  drawRow(sheet, columns, ["(in millions)"], { look });
  const rows = Array.from({ length: dice.between(5, 9) }, () => [
    names(dice.oneOf([1, 2, 3, 7])),
    ...dates.map(() => dice.oneOf([`$ ${money(dice.between(1, 9_999), 0)}`, `(${money(dice.between(1, 999), 0)})`])),
  ]);
  for (const row of rows) drawRow(sheet, columns, row, { look, valign: "middle" });
  const header = ["(in millions)", ...dates.map((date, n) => `${over[Math.floor(n / 2)]} / ${date}`)];
  return { name: "results.pdf", bytes: bytesOf(sheet), truth: { tables: [{ header, rows }], pairs: [] } };
};

/** A ruled table with a name over two columns and labels over several rows. */
export const mergedCells = (seed: number): TestFile => {
  const dice = createDice(seed);
  const [look, names] = [pickPageStyle(dice), createNames(dice)];
  const sheet = newSheet(dice);
  const step = look.size * 2;
  const [top, groups] = [sheet.y, dice.between(2, 4)];
  const xs = [60, 190, 280];
  const write = (column: number, row: number, text: string): void =>
    void sheet.operators.push(show(xs[column]! + 4, top - row * step - look.size * 1.4, look.size, text));
  const rule = (row: number, from: number): void =>
    void sheet.operators.push(line(xs[from]!, top - row * step, 460, top - row * step));
  const [over, left, right] = [names(1), "Ground", "First"];
  for (const [column, text] of ["Building", over].entries()) write(column, 0, text);
  for (const [n, text] of [left, right].entries()) write(n + 1, 1, text);
  rule(0, 0);
  rule(1, 1);
  rule(2, 0);
  const rows: string[][] = [];
  for (let group = 0; group < groups; group++) {
    const [name, height] = [names(2), dice.between(1, 3)];
    write(0, rows.length + 2, name);
    for (let n = 0; n < height; n++) {
      const row = [name, String(dice.between(1, 99)), String(dice.between(1, 99))];
      for (const column of [1, 2]) write(column, rows.length + 2, row[column]!);
      rows.push(row);
      rule(rows.length + 2, n === height - 1 ? 0 : 1);
    }
  }
  const end = top - (rows.length + 2) * step;
  for (const x of [60, 190, 280, 460]) sheet.operators.push(line(x, x === 280 ? top - step : top, x, end));
  const header = ["Building", `${over} / ${left}`, `${over} / ${right}`];

  return { name: "merged.pdf", bytes: bytesOf(sheet), truth: { tables: [{ header, rows }], pairs: [] } };
};
