import { expect, test } from "vitest";
import { typeOfExtension } from "#events/mediaTypes.ts";
import { readFile } from "#services/reading/read.ts";
import { realFile } from "../files/index.ts";
import { scoreMarkdown } from "./score.ts";

const read = async (name: string, bytes: Buffer): Promise<string> =>
  (await readFile({ name, mime_type: typeOfExtension(name)!, bytes })).markdown;

const source = (name: string): string => realFile(`source/${name}`).toString();

test.each(["harbour.pptx", "harbour-pandoc.pptx"])("%s reads like the Markdown that it was made from", async (name) => {
  const truth = source("harbour.md")
    .replaceAll(/^:{3,}.*$/gm, "")
    .replace("The shed is", "Notes: The shed is");
  const score = scoreMarkdown(await read(name, realFile(name)), truth);
  expect(score.tables).toBe(1);
  expect(score.headings).toBeGreaterThanOrEqual(0.95);
  expect(score.overall).toBeGreaterThanOrEqual(0.95);
});

test.each(["tides.xlsx", "tides.xls", "tides.ods"])(
  "%s: titles, notes, tables beside each other, merged cells, dates and formats",
  async (name) => {
    const score = scoreMarkdown(await read(name, realFile(name)), source("tides.md"));
    expect(score.headings).toBe(1);
    expect(score.overall).toBeGreaterThanOrEqual(0.9);
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

/** Windows-1252 differs from Latin-1 in the dash only, of what is in the table. */
const windows = (text: string): Buffer => Buffer.from(text.replaceAll("–", "\u0096"), "latin1");

test.each([
  ["commas", "a.csv", Buffer.from(delimited(",", "\n"))],
  ["semicolons, Windows line ends and a byte order mark", "a.csv", Buffer.from(`\ufeff${delimited(";", "\r\n")}`)],
  ["pipes", "a.csv", Buffer.from(delimited("|", "\n"))],
  ["tabs", "a.tsv", Buffer.from(delimited("\t", "\n"))],
  ["windows-1252", "a.csv", windows(delimited(";", "\r\n"))],
  ["UTF-16", "a.csv", Buffer.from(`\ufeff${delimited("\t", "\r\n")}`, "utf16le")],
])("delimited text with %s is the same table", async (_, name, bytes) => {
  expect(scoreMarkdown(await read(name, bytes), TRUTH).overall).toBeGreaterThanOrEqual(0.98);
});
