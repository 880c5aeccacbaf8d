import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { types } from "#events/mediaTypes.ts";
import { readFile } from "#services/reading/read.ts";
import { scoreMarkdown } from "./score.ts";

/* Files that LibreOffice and pandoc made of one Markdown, which is the truth. */

const folder = new URL("../files/office/", import.meta.url);
const truth = readFileSync(new URL("handbook.md", folder), "utf8");

const read = async (name: string, mime_type: string): Promise<string> =>
  (await readFile({ name, mime_type, bytes: readFileSync(new URL(name, folder)) })).markdown;

test.each([
  ["handbook.docx", types.docx],
  ["handbook-pandoc.docx", types.docx],
  ["handbook.odt", types.odt],
  ["handbook-pandoc.odt", types.odt],
  ["handbook-pandoc.epub", types.epub],
  ["handbook-pandoc.html", types.html],
])("%s is read as it was written, word for word", async (name, type) => {
  expect(await read(name, type)).toBe(truth.trimEnd());
});

test.each([
  ["handbook.rtf", types.rtf],
  ["handbook-pandoc.rtf", types.rtf],
  ["handbook.html", types.html],
])("%s keeps its text, its tables and its headings", async (name, type) => {
  const score = scoreMarkdown(await read(name, type), truth);
  expect(score.order).toBeGreaterThan(0.99);
  expect(score.tables).toBe(1);
  expect(score.headings).toBe(1);
});

test("an e-mail begins with who wrote it, to whom, when and about what", async () => {
  expect((await read("mail.eml", types.eml)).split("\n")).toEqual([
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
