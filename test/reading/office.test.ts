import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { MEDIA_TYPES } from "#events/mediaTypes.ts";
import { readFile } from "#services/reading/read.ts";
import { headingScore, readingScore, tableScore } from "#services/reading/testing/score.ts";

/* LibreOffice and pandoc made all of these files from one Markdown file, which is the expected text. */

const folder = new URL("../files/office/", import.meta.url);
const truth = readFileSync(new URL("handbook.md", folder), "utf8");

const read = async (name: string, mime_type: string): Promise<string> =>
  (await readFile({ mime_type, bytes: readFileSync(new URL(name, folder)) })).markdown;

test.each([
  ["handbook.docx", MEDIA_TYPES.docx],
  ["handbook-pandoc.docx", MEDIA_TYPES.docx],
  ["handbook.odt", MEDIA_TYPES.odt],
  ["handbook-pandoc.odt", MEDIA_TYPES.odt],
  ["handbook-pandoc.epub", MEDIA_TYPES.epub],
  ["handbook-pandoc.html", MEDIA_TYPES.html],
])("%s is read as exactly the Markdown that it was made from", async (name, type) => {
  expect(await read(name, type)).toBe(truth.trimEnd());
});

test.each([
  ["handbook.rtf", MEDIA_TYPES.rtf],
  ["handbook-pandoc.rtf", MEDIA_TYPES.rtf],
  ["handbook.html", MEDIA_TYPES.html],
])("%s keeps its words in order, its tables and its headings", async (name, type) => {
  const markdown = await read(name, type);
  expect(readingScore(truth, markdown)).toBeGreaterThan(0.99);
  expect(tableScore(truth, markdown)).toBe(1);
  expect(headingScore(truth, markdown)).toBe(1);
});

test("an e-mail starts with its sender, recipients, date, subject and attachments", async () => {
  expect((await read("mail.eml", MEDIA_TYPES.eml)).split("\n")).toEqual([
    "From: Jürgen Böhm <boehm@lab.example>  ",
    "To: Workshop <workshop@lab.example>, Ana <ana@lab.example>  ",
    "Date: Tue, 05 Mar 2024 09:12:44 +0100  ",
    "Subject: Öfen & press is repaired  ",
    "Attachments: bill.pdf",
    "",
    "The oven is **repaired**. What it costs:",
    "",
    "| Day | Price |",
    "| --- | --- |",
    "| Monday | 12 € |",
  ]);
});
