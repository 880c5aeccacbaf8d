import { expect, test } from "vitest";
import { typeFromFileName } from "#events/mediaTypes.ts";
import { readFile } from "#services/reading/read.ts";
import { realFile } from "../files/index.ts";
import { headingScore, score, tableScore } from "#services/reading/testing/score.ts";

const read = async (name: string, bytes: Buffer): Promise<string> =>
  (await readFile({ mime_type: typeFromFileName(name)!, bytes })).markdown;

const source = (name: string): string => realFile(`source/${name}`).toString();

test.each(["harbour.pptx", "harbour-pandoc.pptx"])("%s is read as the Markdown that it was made from", async (name) => {
  const truth = source("harbour.md")
    .replaceAll(/^:{3,}.*$/gm, "")
    .replace("The shed is", "Notes: The shed is");
  const markdown = await read(name, realFile(name));
  expect(tableScore(truth, markdown)).toBe(1);
  expect(headingScore(truth, markdown)).toBeGreaterThanOrEqual(0.95);
  expect(score(truth, markdown)).toBeGreaterThanOrEqual(0.95);
});

test.each(["tides.xlsx", "tides.xls", "tides.ods"])(
  "%s keeps titles, notes, tables side by side, merged cells, dates and number formats",
  async (name) => {
    const markdown = await read(name, realFile(name));
    expect(headingScore(source("tides.md"), markdown)).toBe(1);
    expect(score(source("tides.md"), markdown)).toBeGreaterThanOrEqual(0.9);
  },
);

const rows = [
  ["Article", "Place", "Price", "Note"],
  ["Möwe, small", "shelf; left", "1,50", "a | b"],
  ["Café", 'say "now"', "2.75", "two\nlines"],
  ["", "", "", ""],
  ["Rope", "", "64.00", "– £3"],
];
const TRUTH = `| Article | Place | Price | Note |
| --- | --- | --- | --- |
| Möwe, small | shelf; left | 1,50 | a \\| b |
| Café | say "now" | 2.75 | two<br>lines |
| Rope | | 64.00 | – £3 |`;

const delimited = (delimiter: string, end: string): string =>
  rows
    .map((row) => row.map((field) => (/[,;\t|"\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)))
    .map((row) => row.join(delimiter))
    .join(end);

/** Of the table's characters, only the dash differs between Windows-1252 and Latin-1. */
const windows = (text: string): Buffer => Buffer.from(text.replaceAll("–", "\u0096"), "latin1");

test.each([
  ["commas", "a.csv", Buffer.from(delimited(",", "\n"))],
  ["semicolons, Windows line ends and a byte order mark", "a.csv", Buffer.from(`\ufeff${delimited(";", "\r\n")}`)],
  ["pipes", "a.csv", Buffer.from(delimited("|", "\n"))],
  ["tabs", "a.tsv", Buffer.from(delimited("\t", "\n"))],
  ["windows-1252", "a.csv", windows(delimited(";", "\r\n"))],
  ["UTF-16", "a.csv", Buffer.from(`\ufeff${delimited("\t", "\r\n")}`, "utf16le")],
])("delimited text with %s is read as the same table", async (_, name, bytes) => {
  expect(score(TRUTH, await read(name, bytes))).toBeGreaterThanOrEqual(0.98);
});
