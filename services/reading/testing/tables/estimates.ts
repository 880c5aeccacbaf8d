import { pdfOf, show } from "../../pdf/testing/build.ts";
import type { TestFile } from "./businessPages.ts";
import {
  pickPageStyle,
  drawRow,
  drawRule,
  layOutColumns,
  type Align,
  type Column,
  type PageStyle,
  type Sheet,
} from "./draw.ts";
import { createDice, createNames, money, type Dice } from "./random.ts";

/* Estimates of a workshop: most cells of their tables are empty. */

interface Page {
  dice: Dice;
  look: PageStyle;
  sheet: Sheet;
}

/** Rows below the name of a section. */
const ROWS_OF_SECTION = 4;

const newPage = (seed: number, title: string): Page => {
  const dice = createDice(seed);
  const look = pickPageStyle(dice);
  const y = dice.between(700, 740);
  return { dice, look, sheet: { operators: [show(60, y + 25, 15, title, "bold")], y } };
};

const drawTable = (
  { dice, look, sheet }: Page,
  {
    columns,
    header,
    rows,
    sections = [],
  }: { columns: Column[]; header: string[]; rows: string[][]; sections?: string[] },
): TestFile => {
  drawRow(sheet, columns, header, { look, font: look.headerFont, valign: "bottom" });
  if (dice.chance(0.5)) drawRule(sheet, 60, columns.at(-1)!.x + columns.at(-1)!.width, look);
  for (const [n, row] of rows.entries()) {
    const section = n % ROWS_OF_SECTION === 0 ? sections[n / ROWS_OF_SECTION] : undefined;
    if (section !== undefined) drawRow(sheet, columns, [section], { look, font: "bold" });
    drawRow(sheet, columns, row, { look });
  }
  const bytes = pdfOf([sheet.operators.join("\n")]);
  return { name: "estimate.pdf", bytes, truth: { tables: [{ header, rows }], pairs: [] } };
};

const SECTIONS = ["FRONT BUMPER", "FENDER", "HOOD", "ELECTRICAL"];

/** Items of an estimate: parts have a number and a price, work has hours of one kind, and no row has all. */
export const sparseItems = (seed: number): TestFile => {
  const page = newPage(seed, "Estimate of repairs");
  const { dice } = page;
  const names = createNames(dice);
  const columns = layOutColumns(
    [dice.between(120, 170), 75, 30, 60, 45, 45],
    ["left", "left", "right", "right", "right", "right"],
    dice.between(8, 14),
  );
  const part = (): string[] => [
    `${dice.between(10_000, 99_999)}${dice.oneOf(["-SNA", "A0", ""])}`,
    String(dice.between(1, 4)),
    money(dice.between(10, 900)),
  ];
  const labor = (): string => dice.oneOf(["0.5", "1.2", "Incl.", "2.0"]);
  const item = (n: number): string[] => {
    const kind = n < 2 ? n : dice.between(0, 4);
    if (kind === 0) return [...part(), labor(), ""];
    if (kind === 1) return ["", "", "", "", dice.oneOf(["2.4", "0.8"])];
    if (kind === 2) return ["", "", "", labor(), ""];
    if (kind === 3) return ["", "1", money(dice.between(5, 40)), "", ""];
    return [...part(), "", ""];
  };
  // the last label does not wrap: what stands below a table may be something else
  const count = dice.between(8, 16);
  const rows = Array.from({ length: count }, (_, n) => [
    names(n === count - 1 ? 1 : dice.oneOf([1, 2, 2, 3, 6])),
    ...item(n),
  ]);
  const header = dice.oneOf([
    ["Description", "Part number", "Qty", "Price $", "Labor", "Paint"],
    ["Description", "Part number", "Qty", "Extended price", "Labor hours", "Paint hours"],
  ]);
  return drawTable(page, { columns, header, rows, sections: dice.chance(0.5) ? SECTIONS : [] });
};

/** Sums of an estimate: work has hours and an hourly rate, parts have a sum alone. */
export const ratedSums = (seed: number): TestFile => {
  const page = newPage(seed, "ESTIMATE TOTALS");
  const { dice } = page;
  const hasSign = dice.chance(0.5);
  const aligns: Align[] = ["left", "right", dice.oneOf<Align>(["left", "right"]), "right"];
  const widths = [dice.between(110, 150), 65, 65, 65];
  const columns = layOutColumns(
    hasSign ? widths.toSpliced(2, 0, 12) : widths,
    hasSign ? aligns.toSpliced(2, 0, "center") : aligns,
    dice.between(8, 30),
  );
  const row = (name: string, cost: string, basis = "", rate = ""): string[] =>
    hasSign ? [name, basis, basis && "@", rate, cost] : [name, basis, rate, cost];
  const rate = (): string => `$ ${money(dice.between(30, 120))} /hr`;
  const cost = (): string => money(dice.between(50, 9_000));
  const hours = (): string => `${dice.between(1, 30)}.${dice.between(0, 9)} hrs`;
  const rows = [
    row("Parts", cost()),
    row("Body Labor", cost(), hours(), rate()),
    row("Paint Labor", cost(), hours(), rate()),
    row("Paint Supplies", cost(), hours(), rate()),
    row("Miscellaneous", cost()),
    row("Subtotal", cost()),
    row("Sales Tax", cost(), `$ ${cost()}`, "8.2500 %"),
    row("Total Cost of Repairs", cost()),
  ].filter((_, n) => n < 3 || dice.chance(0.85));
  return drawTable(page, { columns, header: row("Category", "Cost $", "Basis", "Rate").map(withoutSign), rows });
};

const withoutSign = (text: string): string => (text === "@" ? "" : text);
