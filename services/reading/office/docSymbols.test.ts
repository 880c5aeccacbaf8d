import { expect, test } from "vitest";
import { warnOfDocParts } from "./docOmissions.ts";
import { type DocFile, tables } from "./docFile.ts";
import { textRuns } from "./docRuns.ts";
import { readFontNames } from "./docFonts.ts";
import { readFormatRuns } from "./docProperties.ts";

/** A table of fonts. */
const fontTable = (names: readonly string[]): Buffer => {
  const fonts = names.map((name) => {
    const text = Buffer.from(`${name}\0`, "utf16le");
    return Buffer.concat([Buffer.from([39 + text.length]), Buffer.alloc(39), text]);
  });
  return Buffer.concat([Buffer.from([names.length, 0, 0, 0]), ...fonts]);
};

/** A page of formats, for a text whose second character is a sign of a font. */
const formatPage = (font: number, sign: number): Buffer => {
  const page = Buffer.alloc(512);
  for (const [index, place] of [0, 1, 2, 9].entries()) page.writeUInt32LE(place, index * 4);
  page.set([0, 100, 0], 16);
  page.set([6, 0x09, 0x6a, font, 0, sign & 0xff, sign >> 8], 200);
  page[511] = 3;
  return page;
};

const FONTS = ["Arial", "Symbol", "Company Icons", "Wingdings"];

const fileWith = (font: number, sign: number): DocFile => {
  const formats = Buffer.alloc(12);
  formats.writeUInt32LE(9, 4);
  const text = "5(m (high)"; // the first bracket is the placeholder of the symbol
  return {
    main: formatPage(font, sign),
    text,
    locate: (character) => ({ offset: character, width: 1, following: text.length - character }),
    table: (number) => (number === tables.characterFormats ? formats : Buffer.alloc(0)),
    fonts: readFontNames(fontTable(FONTS)),
    dataAfter: () => Buffer.alloc(0),
    lengths: { body: text.length, footnotes: 0, headers: 0, comments: 0, endnotes: 0, boxes: 0 },
  };
};

test.each([
  ["of the font Symbol", 1, 0xf06d, "5μm (high)", []],
  ["of the font Wingdings", 3, 0xf0fc, "5✓m (high)", []],
  ["of a font with letters", 0, 0x2610, "5☐m (high)", []],
  ["of an unknown font", 2, 0xf041, "5m (high)", [{ code: "symbols_instead_of_words", count: 1 }]],
])("a symbol %s is read or reported", (_, font, sign, shown, expected) => {
  const file = fileWith(font, sign);
  const source = {
    file,
    characterFormats: readFormatRuns(file, "characterFormats"),
    styles: [],
    noteAt: () => [],
  };
  const runs = textRuns(source, 0, file.text.length, []);
  expect(runs.map(({ text }) => text).join("")).toBe(shown);
  const warnings: unknown[] = [];
  warnOfDocParts((warning) => warnings.push(warning), file);
  expect(warnings).toEqual(expected);
});
