import { line, pdfOf, show } from "../../pdf/testing/build.ts";
import {
  drawCell,
  pickPageStyle,
  drawProse,
  drawRow,
  drawRule,
  drawText,
  layOutColumns,
  type Align,
  type PageStyle,
  type Sheet,
} from "./draw.ts";
import type { GroundTruth } from "./facts.ts";
import { createDice, createNames, money, type Dice } from "./random.ts";

export interface TestFile {
  name: string;
  bytes: Buffer;
  truth: GroundTruth;
}

const newSheet = (dice: Dice): Sheet => ({ operators: [], y: dice.between(690, 740) });

const date = (dice: Dice): string =>
  `${dice.between(1, 28)} ${dice.oneOf(["March", "May", "June", "October"])} ${dice.between(2019, 2026)}`;

const ITEMS = [
  ["Description", "Hours", "Rate", "Amount"],
  ["Item", "Qty", "Unit price", "Total"],
  ["Service", "Days", "Per day", "Line total"],
];

interface Page {
  dice: Dice;
  look: PageStyle;
  names: ReturnType<typeof createNames>;
  sheet: Sheet;
}

/** Draws an address beside labels with their values. Answers with the labels and values. */
function drawParties({ dice, look, names, sheet }: Page): [string, string][] {
  const labels = dice.oneOf([
    ["Invoice number", "Invoice date", "Due date", "Customer"],
    ["Invoice No.:", "Date:", "Terms:", "Account:"],
  ]);
  const values = [
    `INV-${dice.between(1000, 9999)}`,
    date(dice),
    dice.oneOf(["30 days", "Net 14"]),
    `C${dice.between(100, 999)}`,
  ];
  const address = [
    "Bill to",
    names(),
    `${dice.between(1, 99)} ${names(1)} Street`,
    `${names(1)}ville ${dice.between(10_000, 99_999)}`,
  ];
  const align = dice.chance(0.5) ? "right" : "left";
  const [label, value] = layOutColumns([110, 110], [align, align], 14, 320);
  for (const [n, name] of labels.entries()) {
    if (dice.chance(0.9)) sheet.operators.push(drawText(60, sheet.y, address[n]!, look));
    sheet.operators.push(
      drawCell(label!, sheet.y, name, look, look.headerFont),
      drawCell(value!, sheet.y, values[n]!, look),
    );
    sheet.y -= look.leading + look.rowGap / 2;
  }
  return labels.map((name, n) => [name, values[n]!]);
}

/** Draws items with wrapped descriptions. Answers with them, their sum, and what the totals below need. */
function drawItems({ dice, look, names, sheet }: Page) {
  const aligns: Align[] = ["left", dice.oneOf(["right", "center", "left"]), "right", "right"];
  const columns = layOutColumns([dice.between(150, 230), 55, 65, 75], aligns, dice.between(10, 22));
  const header = dice.oneOf(ITEMS);
  const currency = dice.oneOf(["$", "", "€"]) === "$" ? "$" : "";
  const end = columns.at(-1)!.x + columns.at(-1)!.width;
  const ruled = dice.oneOf(["none", "header", "rows"]);
  drawRow(sheet, columns, header, { look, font: look.headerFont });
  if (ruled !== "none") drawRule(sheet, 60, end, look);
  const rows: string[][] = [];
  let sum = 0;
  for (let n = dice.between(3, 7); n > 0; n--) {
    const [count, price] = [dice.between(1, 40), dice.between(500, 25_000) / 100];
    sum += count * price;
    const row = [
      names(dice.oneOf([2, 3, 6, 9])),
      String(count),
      `${currency}${money(price)}`,
      `${currency}${money(count * price)}`,
    ];
    rows.push(row);
    drawRow(sheet, columns, row, { look });
    if (ruled === "rows") drawRule(sheet, 60, end, look);
  }
  return { header, rows, sum, currency, columns };
}

/** Draws the totals at the lower right. Answers with their labels and values. */
function drawTotals({ look, sheet }: Page, { sum, currency, columns }: ReturnType<typeof drawItems>) {
  const totals = [
    ["Subtotal", sum],
    ["Tax 19%", sum * 0.19],
    ["Amount due", sum * 1.19],
  ] as const;
  return totals.map(([name, amount]): [string, string] => {
    const pair: [string, string] = [name, `${currency}${money(amount)}`];
    drawRow(sheet, columns.slice(2), pair, { look });
    return pair;
  });
}

/** An invoice: an address beside labels with values, items, totals. */
export const invoice = (seed: number): TestFile => {
  const dice = createDice(seed);
  const page: Page = { dice, look: pickPageStyle(dice), names: createNames(dice), sheet: newSheet(dice) };
  const { look, names, sheet } = page;
  sheet.operators.push(show(60, 765, 20, `${names()} Ltd`, "bold"));
  const pairs = drawParties(page);
  sheet.y -= look.size * 2.5;
  const items = drawItems(page);
  sheet.y -= look.size;
  pairs.push(...drawTotals(page, items));
  sheet.y -= 30;
  drawProse(sheet, dice, look);
  return {
    name: "invoice.pdf",
    bytes: pdfOf([sheet.operators.join("\n")]),
    truth: { tables: [{ header: items.header, rows: items.rows }], pairs },
  };
};

const FIELDS = [
  "First name",
  "Last name",
  "Date of birth",
  "Street",
  "City",
  "Postal code",
  "Country",
  "Telephone",
  "Occupation",
  "Employer",
  "Tax number",
  "Policy",
  "Bank",
  "Account holder",
];

/** A form: labels with their values beside them, one or two pairs on a line. */
export const form = (seed: number): TestFile => {
  const dice = createDice(seed);
  const [look, names, sheet] = [pickPageStyle(dice), createNames(dice), newSheet(dice)];
  const colon = dice.oneOf([":", ""]);
  const perLine = dice.oneOf([1, 2]);
  const underlined = dice.chance(0.4);
  const columns = layOutColumns(
    perLine === 1 ? [130, 220] : [95, 130, 95, 130],
    ["left", "left", "left", "left"],
    dice.between(10, 20),
  );
  sheet.operators.push(show(60, 765, 16, "Application for a permit", "bold"));
  drawProse(sheet, dice, look);
  const start = dice.between(0, 3);
  const pairs = FIELDS.slice(start, start + dice.between(6, 11)).map((field): [string, string] => {
    const value = dice.oneOf([
      names(),
      String(dice.between(1000, 99_999)),
      date(dice),
      `${names(1)} ${dice.between(1, 99)}`,
    ]);
    return [`${field}${colon}`, value];
  });
  for (let n = 0; n < pairs.length; n += perLine) {
    const cells = pairs.slice(n, n + perLine).flat();
    const before = sheet.y;
    drawRow(sheet, columns, cells, { look: { ...look, rowGap: look.rowGap + 4 } });
    if (!underlined) continue;
    for (const at of cells.keys()) {
      const column = columns[at]!;
      if (at % 2 === 1) sheet.operators.push(line(column.x, before - 3, column.x + column.width, before - 3));
    }
  }
  sheet.y -= 20;
  drawProse(sheet, dice, look);
  return { name: "form.pdf", bytes: pdfOf([sheet.operators.join("\n")]), truth: { tables: [], pairs } };
};

/** A form of drawn boxes, each with a small label above its value. */
export const boxes = (seed: number): TestFile => {
  const dice = createDice(seed);
  const [look, names, sheet] = [pickPageStyle(dice), createNames(dice), newSheet(dice)];
  const small = { ...look, size: look.size * 0.7 };
  const pairs: [string, string][] = [];
  const [count, height, width] = [dice.between(2, 4), look.size * 2.9, dice.between(110, 125)];
  const fields = FIELDS.slice(dice.between(0, 2));
  sheet.operators.push(show(60, 765, 16, "Statement of wages", "bold"));
  for (let row = 0; row < dice.between(2, 3); row++) {
    for (let at = 0; at < count; at++) {
      const [x, top] = [60 + at * width, sheet.y];
      const [label, value] = [
        `${row * count + at + 1} ${fields[row * count + at]!}`,
        dice.oneOf([names(), money(dice.between(100, 90_000))]),
      ];
      sheet.operators.push(
        line(x, top, x + width, top),
        line(x, top - height, x + width, top - height),
        line(x, top, x, top - height),
        line(x + width, top, x + width, top - height),
        drawText(x + 3, top - small.size - 1, label, small),
        drawText(x + 8, top - height + look.size * 0.5, value, look),
      );
      pairs.push([label, value]);
    }
    sheet.y -= height;
  }
  sheet.y -= 40;
  drawProse(sheet, dice, look);
  return { name: "boxes.pdf", bytes: pdfOf([sheet.operators.join("\n")]), truth: { tables: [], pairs } };
};
