import { utils, write, type BookType } from "@e965/xlsx";
import { strFromU8, strToU8, unzipSync, zipSync } from "fflate";
import { expect, test } from "vitest";
import { readExcel, readOds } from "./readSheets.ts";

/* Phonetic readings above the words of cells follow them in brackets, as those of web pages do. */

const parts = (bookType: BookType): Record<string, Uint8Array> => {
  const book = utils.book_new();
  utils.book_append_sheet(book, utils.aoa_to_sheet([["Place"], ["Quay"]]), "S");
  return unzipSync(write(book, { type: "buffer", bookType, bookSST: true }) as Buffer);
};

test("readings that cells of Excel show follow their words", async () => {
  const run = (from: number, to: number, spoken: string): string =>
    `<rPh sb="${from}" eb="${to}"><t>${spoken}</t></rPh>`;
  const texts = [
    `<si><t>東京</t>${run(0, 2, "トウキョウ")}<phoneticPr fontId="1"/></si>`,
    `<si><r><t>漢</t></r><r><t>字を読む</t></r>${run(0, 1, "カン")}${run(1, 2, "ジ")}${run(3, 4, "ヨ")}</si>`,
    `<si><t>港</t>${run(0, 1, "")}</si>`,
  ];
  const cell = (name: string, text: number, more = ' ph="1"'): string =>
    `<c r="${name}" t="s"${more}><v>${text}</v></c>`;
  const rows = `<row r="1">${cell("A1", 0)}${cell("B1", 1)}${cell("C1", 2)}</row><row r="2">${cell("A2", 0, "")}${cell("B2", 0, "")}</row>`;
  const file = zipSync({
    ...parts("xlsx"),
    "xl/sharedStrings.xml": strToU8(`<sst>${texts.join("")}</sst>`),
    "xl/worksheets/sheet1.xml": strToU8(
      `<worksheet><dimension ref="A1:C2"/><sheetData>${rows}</sheetData></worksheet>`,
    ),
  });
  expect((await readExcel(file))[0]!.split("\n").slice(2)).toEqual([
    "| 東京 (トウキョウ) | 漢字 (カンジ)を読 (ヨ)む | 港 |",
    "| --- | --- | --- |",
    "| 東京 | 東京 |  |",
  ]);
});

test("readings of texts that are stored in their cells follow their words", async () => {
  const spoken = '<rPh sb="0" eb="2"><t>トウキョウ</t></rPh>';
  const cell = (name: string, text: string, more = ' ph="1"'): string =>
    `<c r="${name}" t="inlineStr"${more}><is>${text}</is></c>`;
  const first = cell("A1", `<t>東京</t>${spoken}`) + cell("B1", "<t>Quay</t>");
  const second = cell("A2", `<r><t>東京</t></r>${spoken}`) + cell("B2", `<t>東京</t>${spoken}`, "");
  const rows = `<row r="1">${first}</row><row r="2">${second}</row>`;
  const xml = `<worksheet><dimension ref="A1:B2"/><sheetData>${rows}</sheetData></worksheet>`;
  const file = zipSync({ ...parts("xlsx"), "xl/worksheets/sheet1.xml": strToU8(xml) });
  expect((await readExcel(file))[0]!.split("\n").slice(2)).toEqual([
    "| 東京 (トウキョウ) | Quay |",
    "| --- | --- |",
    "| 東京 (トウキョウ) | 東京 |",
  ]);
});

test("readings in OpenDocument sheets follow their words", async () => {
  const { "content.xml": content, ...others } = parts("ods");
  const ruby = (word: string, spoken: string): string =>
    `<text:ruby text:style-name="R"><text:ruby-base>${word}</text:ruby-base><text:ruby-text>${spoken}</text:ruby-text></text:ruby>`;
  const words = `これは${ruby("漢", "かん")}${ruby("字", "じ")}、${ruby("港", "")}`;
  const row = `<table:table-row><table:table-cell office:value-type="string"><text:p>${words}</text:p></table:table-cell></table:table-row>`;
  const box = `<table:shapes><draw:frame><draw:text-box><text:p>${ruby("本", "ほん")}</text:p></draw:text-box></draw:frame></table:shapes>`;
  const xml = strFromU8(content!)
    .replace(/<table:table [^>]*>/, (start) => start + box)
    .replace("</table:table>", `${row}</table:table>`);
  expect(await readOds(zipSync({ ...others, "content.xml": strToU8(xml) }))).toEqual([
    "## S\n\n| Place |\n| --- |\n| Quay |\n| これは漢字 (かんじ)、港 |\n\n本 (ほん)",
  ]);
});
