import { expect, test } from "vitest";
import type { ReadingWarning } from "#events/readingWarnings.ts";
import { wordFile } from "#test/reading/archives.ts";
import { readDocx } from "./docx.ts";

const read = async (...contents: string[]): Promise<{ text: string; warnings: ReadingWarning[] }> => {
  const warnings: ReadingWarning[] = [];
  const body = `<w:p>${contents.map((content) => `<w:r>${content}</w:r>`).join("")}</w:p>`;
  const [text = ""] = await readDocx(wordFile(body), (warning) => warnings.push(warning));
  return { text, warnings };
};

const symbol = (font: string, char: string): string => `<w:sym w:font="${font}" w:char="${char}"/>`;
const words = '<w:t xml:space="preserve">Signed </w:t>';

test.each([
  ["a sign of a known font", symbol("Symbol", "F061"), "α"],
  ["in small letters", symbol("symbol", "f06d"), "μ"],
  ["a letter of a font with letters", symbol("MS Gothic", "2610"), "☐"],
  ["text in a font with signs", '<w:rPr><w:rFonts w:ascii="Symbol"/></w:rPr><w:t>\uF061 and \uF06D</w:t>', "α and μ"],
])("a symbol is read: %s", async (_, content, shown) => {
  expect(await read(words, content)).toEqual({ text: `Signed ${shown}`, warnings: [] });
});

test.each([
  ["of an unknown font", [symbol("Company Icons", "F041"), symbol("Company Icons", "E000")], 2],
  ["without a font, or without a number", ['<w:sym w:char="F041"/>', '<w:sym w:font="Symbol"/>'], 2],
  ["that a known font does not have", [symbol("Symbol", "F002")], 1],
  ["beyond all characters", [symbol("Arial", "FFFFFF")], 1],
])("a symbol is reported: %s", async (_, contents, count) => {
  expect(await read(words, ...contents)).toEqual({
    text: "Signed",
    warnings: [{ code: "symbols_instead_of_words", count }],
  });
});
