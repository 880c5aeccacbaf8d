import { expect, test } from "vitest";
import { book } from "#test/reading/archives.ts";
import { readEpub } from "../office/epub.ts";
import { readHtml } from "./readHtml.ts";

const read = async (html: string): Promise<string> => (await readHtml(Buffer.from(html)))[0] ?? "";

test.each([
  [
    "with brackets for older browsers",
    "<ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp>字<rt>じ</rt></ruby>を",
    "漢字 (かんじ)を",
  ],
  ["with separate words", "<ruby><rb>北<rb>京<rt>běi<rt>jīng</ruby>", "北京 (běi jīng)"],
  ["one for each character", "<ruby>漢<rt>かん</rt></ruby><ruby>字<rt>じ</rt></ruby>", "漢字 (かんじ)"],
  [
    "on lines of the source",
    "<ruby>\n  <rb>漢</rb>\n  <rt> かん </rt>\n  <rb>字</rb>\n  <rt>じ</rt>\n</ruby>",
    "漢字 (かんじ)",
  ],
  ["on both sides", "<ruby>北京<rt>běi jīng</rt><rtc>Peking</rtc></ruby>", "北京 (běi jīng Peking)"],
  ["within each other", "<ruby><ruby>東<rt>とう</rt></ruby><rt>tō</rt></ruby>", "東 (とう) (tō)"],
  ["that are empty", "<ruby>漢<rt></rt></ruby>字", "漢字"],
])("the readings of words follow them in brackets: %s", async (_, ruby, text) => {
  expect(await read(`<p>${ruby}</p>`)).toBe(text);
});

test("readings in a table and in a heading follow their words", async () => {
  const word = "<ruby>読<rt>よ</rt></ruby>む";
  expect(await read(`<h1>${word}</h1><table><tr><td>a<td>b<tr><td>${word}<td>c</table>`)).toBe(
    "# 読 (よ)む\n\n| a | b |\n| --- | --- |\n| 読 (よ)む | c |",
  );
});

test("the readings of a book follow their words", async () => {
  expect(await readEpub(book({ "a.xhtml": "<p>これは<ruby>本<rt>ほん</rt></ruby>です。</p>" }))).toEqual([
    "これは本 (ほん)です。",
  ]);
});
