import { utils, write, type BookType, type CellObject, type WorkSheet } from "@e965/xlsx";
import { strFromU8, strToU8, unzipSync, zipSync } from "fflate";
import { expect, test } from "vitest";
import type { ReadingWarning } from "#events/readingWarnings.ts";
import { UnreadableFile } from "../reader.ts";
import { readExcel, readOds } from "./readSheets.ts";

type Value = string | number | boolean | null | CellObject;

const number = (v: number, z: string): CellObject => ({ t: "n", v, z });

const fileOf = (sheets: Record<string, WorkSheet>, bookType: BookType = "xlsx"): Buffer => {
  const book = utils.book_new();
  for (const [name, sheet] of Object.entries(sheets)) utils.book_append_sheet(book, sheet, name);
  return write(book, { type: "buffer", bookType }) as Buffer;
};

const sheetOf = (rows: Value[][], merges: string[] = []): WorkSheet => ({
  ...utils.aoa_to_sheet(rows),
  "!merges": merges.map((range) => utils.decode_range(range)),
});

const markdownOf = async (rows: Value[][], merges?: string[], type?: BookType): Promise<string> =>
  (await readExcel(fileOf({ S: sheetOf(rows, merges) }, type)))[0]!.replace("## S\n\n", "");

test.each(["xlsx", "biff8", "ods"] as const)(
  "every sheet of %s is read under its name, without empty sheets",
  async (type) => {
    const sheets = {
      One: sheetOf([
        ["a", "b"],
        ["c", "d"],
      ]),
      None: sheetOf([[]]),
      Two: sheetOf([["note"]]),
    };
    const [markdown] = await (type === "ods" ? readOds : readExcel)(fileOf(sheets, type));
    expect(markdown).toBe("## One\n\n| a | b |\n| --- | --- |\n| c | d |\n\n## Two\n\nnote");
  },
);

test("an ODS file without styles.xml is read", async () => {
  const { "styles.xml": _, ...parts } = unzipSync(fileOf({ S: sheetOf([["a"], ["b"]]) }, "ods"));
  expect(await readOds(zipSync(parts))).toEqual(["## S\n\n| a |\n| --- |\n| b |"]);
});

test("cells have their displayed text, dates are in ISO format, and long numbers keep all digits", async () => {
  const rows = [
    ["kind", "value"],
    ["percent", number(0.25, "0%")],
    ["money", number(1234.5, "#,##0.00")],
    ["day", number(46000, "m/d/yy")],
    ["moment", number(46000.6041667, "yyyy-mm-dd hh:mm")],
    ["clock", number(0.6041667, "h:mm")],
    ["duration", number(1.5, "[h]:mm")],
    ["month", number(46000, "mmm yyyy")],
    ["no day", number(4006381, "m/d/yy")],
    ["code", 4006381333931],
    ["sum", 0.1 + 0.2],
    ["truth", true],
    ["pipe", "a|b\nc"],
  ];
  const values = (await markdownOf(rows))
    .split("\n")
    .slice(2)
    .map((row) => row.split(" | ")[1]?.replace(/ \|$/, ""));
  const dates = ["2025-12-09", "2025-12-09 14:30", "14:30", "36:00", "Dec 2025", "4006381"];
  expect(values).toEqual(["25%", "1,234.50", ...dates, "4006381333931", "0.3", "TRUE", "a\\|b<br>c"]);
});

test("figures stay with their labels if some are missing, and totals without a label", async () => {
  const rows = [
    ["Account", "Plan", "Actual", null, "Plan", "Actual"],
    ["Rent", 10, 11, null, 12, 13],
    ["Heat", 20, 21, null, "n/a", "–"],
    ["Water", 5, 6, null, 7, 8],
    [null, 35, 38, null, 19, 21],
  ];
  expect((await markdownOf(rows)).split("\n").slice(2)).toEqual([
    "| Rent | 10 | 11 | 12 | 13 |",
    "| Heat | 20 | 21 | n/a | – |",
    "| Water | 5 | 6 | 7 | 8 |",
    "|  | 35 | 38 | 19 | 21 |",
  ]);
});

test("parts below an empty row continue a table whose header has years, with or without a title above", async () => {
  const rows = [[null, 2023, 2024], ["Revenue", 10, 12], ["Costs", 4, 5], [], ["Profit", 6, 7]];
  const table = "|  | 2023 | 2024 |\n| --- | --- | --- |\n| Revenue | 10 | 12 |\n| Costs | 4 | 5 |\n| Profit | 6 | 7 |";
  expect(await markdownOf(rows)).toBe(table);
  expect(await markdownOf([["Income"], ...rows])).toBe(`Income\n\n${table}`);
  expect(await markdownOf([...rows, [], [null, 2025, 2026], ["Plan", 8, 9]])).toBe(
    `${table}\n\n|  | 2025 | 2026 |\n| --- | --- | --- |\n| Plan | 8 | 9 |`,
  );
});

test("a longer table of numbers stays beside a table with figures of its own", async () => {
  const [left, right] = ["| Name | Count |", "| Year | Total |"];
  const rows = [
    ["Name", "Count", null, "Year", "Total"],
    ["a", 1, null, 2021, 5],
    ["b", 2, null, 2022, 6],
  ];
  const markdown = await markdownOf([...rows, ["c", 3, null, 2023, 7], [null, null, null, 2024, 8]]);
  expect(markdown.split("\n").filter((line) => line === left || line === right)).toEqual([left, right]);
});

test("rows with several years or dates below an empty row continue their table", async () => {
  const day = (date: number): CellObject => number(date, "yyyy-mm-dd");
  const rows = [["Task", "From", "To"], ["Design", day(46000), day(46001)], []];
  const last = ["Build", day(46002), day(46003)];
  const table = "| Task | From | To |\n| --- | --- | --- |\n| Design | 2025-12-09 | 2025-12-10 |";
  expect(await markdownOf([...rows, last])).toBe(`${table}\n| Build | 2025-12-11 | 2025-12-12 |`);
  expect(await markdownOf([...rows, last, ["Test", day(46004), "open"]])).toBe(
    `${table}\n| Build | 2025-12-11 | 2025-12-12 |\n| Test | 2025-12-13 | open |`,
  );
});

test("empty rows separate tables, unless the next part has no header", async () => {
  const table = [
    ["Name", "Count"],
    ["a", 1],
  ];
  expect(await markdownOf([...table, [], ["b", 2]])).toBe("| Name | Count |\n| --- | --- |\n| a | 1 |\n| b | 2 |");
  expect(await markdownOf([...table, [], ...table])).toBe(
    "| Name | Count |\n| --- | --- |\n| a | 1 |\n\n| Name | Count |\n| --- | --- |\n| a | 1 |",
  );
});

test("an empty column separates two tables, but not labels from their figures", async () => {
  expect(
    await markdownOf([
      ["a", "b", null, "c", "d"],
      [1, 2, null, 3, 4],
    ]),
  ).toBe("| a | b |\n| --- | --- |\n| 1 | 2 |\n\n| c | d |\n| --- | --- |\n| 3 | 4 |");
  expect(
    await markdownOf([
      ["a", null, "b", null, "c"],
      ["x", null, 1, null, 2],
    ]),
  ).toBe("| a | b | c |\n| --- | --- | --- |\n| x | 1 | 2 |");
});

test("tables that touch only at corners are separate; a line of an outline stays in its table", async () => {
  const corner = [
    ["a", "b", null, null],
    [1, 2, null, null],
    [null, null, "c", "d"],
    [null, null, 3, 4],
  ];
  expect(await markdownOf(corner)).toBe("| a | b |\n| --- | --- |\n| 1 | 2 |\n\n| c | d |\n| --- | --- |\n| 3 | 4 |");
  const outline = [["Group", "Item", "Count"], ["One"], [null, "x", 1], ["Two"], [null, "y", 2]];
  expect((await markdownOf(outline)).split("\n")).toHaveLength(6);
});

test("a title above and a note below a table are paragraphs", async () => {
  const rows = [["# Sales"], ["a", "b", "c"], [1, 2, 3], ["Source: the ledger"]];
  expect(await markdownOf(rows, ["A1:C1"])).toBe(
    "\\# Sales\n\n| a | b | c |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n\nSource: the ledger",
  );
});

test("merged cells repeat their text, and stacked headers become one row", async () => {
  const rows = [
    ["Region", 2025, null],
    [null, "Q1", "Q2"],
    ["North", 1, 2],
    [null, 3, 4],
  ];
  expect(await markdownOf(rows, ["A1:A2", "B1:C1", "A3:A4"])).toBe(
    "| Region | 2025 / Q1 | 2025 / Q2 |\n| --- | --- | --- |\n| North | 1 | 2 |\n| North | 3 | 4 |",
  );
});

test("two cells in opposite corners of a sheet take no extra time", async () => {
  const parts = unzipSync(fileOf({ S: sheetOf([["near"]]) }));
  const name = "xl/worksheets/sheet1.xml";
  const far = `<row r="1048576"><c r="XFD1048576" t="str"><v>far</v></c></row></sheetData>`;
  const xml = strFromU8(parts[name]!).replace("</sheetData>", far).replace("A1:A1", "A1:XFD1048576");
  const [markdown] = await readExcel(zipSync({ ...parts, [name]: strToU8(xml) }));
  expect(markdown).toBe("## S\n\nnear\n\nfar");
});

test("a sheet with only a chart contains the chart's values", async () => {
  const parts = unzipSync(fileOf({ S: sheetOf([["a"]]), Chart: sheetOf([[]]) }));
  const relation = (kind: string, target: string) =>
    strToU8(`<Relationships><Relationship Id="rId1" Type="urn:x/${kind}" Target="${target}"/></Relationships>`);
  const points = (...values: string[]) =>
    values.map((value, idx) => `<c:pt idx="${idx}"><c:v>${value}</c:v></c:pt>`).join("");
  const series = `<c:ser><c:tx><c:v>Crabs</c:v></c:tx><c:cat>${points("May")}</c:cat><c:val>${points("7")}</c:val></c:ser>`;
  const chart = `<c:chartSpace xmlns:c="urn:c"><c:chart><c:plotArea><c:barChart>${series}</c:barChart></c:plotArea></c:chart></c:chartSpace>`;
  const workbook = "xl/_rels/workbook.xml.rels";
  const swapped = strFromU8(parts[workbook]!).replace(
    /Target="worksheets\/sheet2.xml" Type="[^"]*\/worksheet"|Type="[^"]*\/worksheet" Target="worksheets\/sheet2.xml"/,
    `Type="urn:x/chartsheet" Target="chartsheets/sheet1.xml"`,
  );
  const file = zipSync({
    ...parts,
    [workbook]: strToU8(swapped),
    "xl/chartsheets/sheet1.xml": strToU8(`<chartsheet xmlns="urn:s"/>`),
    "xl/chartsheets/_rels/sheet1.xml.rels": relation("drawing", "../drawings/d.xml"),
    "xl/drawings/_rels/d.xml.rels": relation("chart", "../charts/c.xml"),
    "xl/charts/c.xml": strToU8(chart),
  });
  expect((await readExcel(file))[0]).toBe("## S\n\na\n\n## Chart\n\n| | Crabs |\n| --- | --- |\n| May | 7 |");
});

test("text boxes are read, and a chart includes values that its sheet's cells do not show", async () => {
  const parts = unzipSync(fileOf({ S: sheetOf([["a"]]) }));
  const relation = (...listed: [id: string, kind: string, target: string][]) =>
    strToU8(
      `<Relationships>${listed
        .map(([id, kind, target]) => `<Relationship Id="${id}" Type="urn:x/${kind}" Target="${target}"/>`)
        .join("")}</Relationships>`,
    );
  const label = `<c:dLbls><c:dLbl><c:idx val="0"/><c:tx><c:rich><a:p><a:r><a:t>best</a:t></a:r></a:p></c:rich></c:tx></c:dLbl></c:dLbls>`;
  const chart = (name: string, source: string, labels = "") =>
    strToU8(
      `<c:chartSpace xmlns:c="urn:c" xmlns:a="urn:a"><c:chart><c:title><a:t>${name}</a:t></c:title><c:plotArea><c:lineChart><c:ser><c:tx><c:v>Visits</c:v></c:tx>${labels}<c:val><c:numRef><c:f>${source}</c:f><c:numCache><c:pt idx="0"><c:v>7</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser></c:lineChart></c:plotArea></c:chart></c:chartSpace>`,
    );
  const shape = (text: string) => `<x:sp><x:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></x:txBody></x:sp>`;
  const fallback = `<m:Fallback xmlns:m="urn:m">${shape("This chart cannot be shown.")}</m:Fallback>`;
  const box = `${shape("Draft of May")}<m:AlternateContent xmlns:m="urn:m"><m:Choice/>${fallback}</m:AlternateContent>`;
  const file = zipSync({
    ...parts,
    "xl/worksheets/_rels/sheet1.xml.rels": relation(["rId1", "drawing", "../drawings/d.xml"]),
    "xl/drawings/d.xml": strToU8(`<x:wsDr xmlns:x="urn:x" xmlns:a="urn:a">${box}</x:wsDr>`),
    "xl/drawings/_rels/d.xml.rels": relation(
      ["rId1", "chart", "../charts/1.xml"],
      ["rId2", "chartEx", "../charts/2.xml"],
      ["rId3", "chart", "../charts/3.xml"],
    ),
    "xl/charts/1.xml": chart("Own", "S!$A$1:$A$1"),
    "xl/charts/2.xml": chart("Other", "'Sheet of May'!$A$1"),
    "xl/charts/3.xml": chart("Marked", "S!$A$1:$A$1", label),
  });
  const values = (value: string): string => `| | Visits |\n| --- | --- |\n| 1 | ${value} |`;
  expect((await readExcel(file))[0]?.split("\n\n")).toEqual([
    "## S",
    "a",
    "Draft of May",
    "Own",
    "Other",
    values("7"),
    "Marked",
    values("7 (best)"),
  ]);
});

test("a file that is truncated, protected or not a spreadsheet is refused", async () => {
  const file = fileOf({ S: sheetOf([["a"]]) });
  await expect(readExcel(file.subarray(0, -50))).rejects.toThrow(UnreadableFile);
  await expect(readExcel(Buffer.from("PK\u0003\u0004".repeat(30)))).rejects.toThrow(UnreadableFile);
});

test("warnings count sheets that only programs can unhide, and pictures; comments follow their sheet", async () => {
  const sheet = sheetOf([
    ["a", "b"],
    [1, 2],
  ]);
  (sheet["A1"] as CellObject).c = [{ a: "Ada", t: "Sure?" }];
  const book = utils.book_new();
  utils.book_append_sheet(book, sheet, "Shown");
  utils.book_append_sheet(book, sheetOf([["secret"]]), "Hidden");
  book.Workbook = { Sheets: [{ Hidden: 0 }, { Hidden: 2 }] };
  const file = unzipSync(write(book, { type: "buffer", bookType: "xlsx" }) as Buffer);
  const warnings: ReadingWarning[] = [];
  const [markdown] = await readExcel(zipSync({ ...file, "xl/media/image1.png": strToU8("x") }), (warning) =>
    warnings.push(warning),
  );
  expect(markdown).toBe("## Shown\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\nComments:\n\n- A1 (Ada): Sure?");
  expect(warnings).toEqual([
    { code: "hidden_sheets", count: 1 },
    { code: "images_without_text", count: 1 },
  ]);
});
