import { CFB, utils, write } from "@e965/xlsx";
import { expect, test } from "vitest";
import type { ReadingWarning } from "#events/readingWarnings.ts";
import { readExcel } from "./readSheets.ts";

const record = (type: number, ...data: (number[] | Buffer)[]): Buffer => {
  const body = Buffer.concat(data.map((part) => Buffer.from(part)));
  const head = Buffer.alloc(4);
  head.writeUInt16LE(type, 0);
  head.writeUInt16LE(body.length, 2);
  return Buffer.concat([head, body]);
};
const word = (value: number): number[] => [value & 0xff, value >> 8];
const wide = (text: string): Buffer => Buffer.from(text, "utf16le");
const end = record(0x0a);

/** An object of a drawing: 6 is a text box, 8 a picture, 11 a checkbox, 25 a comment. */
const object = (kind: number): Buffer => record(0x5d, word(0x15), word(0x12), word(kind), Array(16).fill(0));
/** The text of an object, in parts of any width. */
const objectText = (length: number, ...parts: Buffer[]): Buffer[] => [
  record(0x1b6, Array(10).fill(0), word(length), word(16), Array(4).fill(0)),
  ...parts.map((part) => record(0x3c, part)),
  record(0x3c, Array(16).fill(0)),
];
const narrow = (text: string): Buffer => Buffer.concat([Buffer.from([0]), Buffer.from(text, "latin1")]);
const header = (type: number, text: string): Buffer => record(type, word(text.length), narrow(text));

/** An XLS of two sheets, with more records in the second one and more files in its container. */
const workbook = (records: Buffer[], files: string[] = []): Buffer => {
  const book = utils.book_new();
  for (const name of ["First", "Zwei é"])
    utils.book_append_sheet(
      book,
      utils.aoa_to_sheet([
        ["Item", "Rate"],
        ["Labor", 55],
      ]),
      name,
    );
  const container = CFB.read(write(book, { type: "buffer", bookType: "biff8" }), { type: "buffer" });
  const stream = CFB.find(container, "Workbook");
  const content = Buffer.from(stream.content);
  stream.content = Buffer.concat([content.subarray(0, content.length - end.length), ...records, end]);
  stream.size = stream.content.length;
  for (const file of files) CFB.utils.cfb_add(container, file, Buffer.from("x"));
  return CFB.write(container, { type: "buffer" }) as Buffer;
};

const read = async (bytes: Buffer): Promise<{ text: string; warnings: ReadingWarning[] }> => {
  const warnings: ReadingWarning[] = [];
  const [text = ""] = await readExcel(bytes, (warning) => warnings.push(warning));
  return { text, warnings };
};
const TABLE = "| Item | Rate |\n| --- | --- |\n| Labor | 55 |";

test("texts of boxes and titles of charts follow the cells of their sheet, without comments", async () => {
  const chartText = "Visits in May";
  const chart = [
    record(0x0809, word(0x0600), word(0x20), Array(12).fill(0)),
    record(0x100d, word(0), [chartText.length], narrow(chartText)),
    end,
  ];
  const file = workbook([
    object(6),
    ...objectText(11, narrow("Draft "), Buffer.concat([Buffer.from([1]), wide("– all")])),
    object(25),
    ...objectText(4, narrow("note")),
    object(11),
    ...objectText(12, narrow("Paid\nin full")),
    object(5),
    ...chart,
  ]);
  expect(await read(file)).toEqual({
    text: `## First\n\n${TABLE}\n\n## Zwei é\n\n${TABLE}\n\nDraft – all\n\nPaid\n\nin full\n\nVisits in May`,
    warnings: [],
  });
});

test("pictures, embedded files, headers and footers are counted", async () => {
  const file = workbook(
    [
      header(0x14, '&L&"Arial,Bold"&12Valid from 1 May 2026&RPage &P'),
      header(0x15, "&LPage &P of &N&R&D"),
      object(8),
      object(8),
    ],
    ["/MBD0001A2B3/Package"],
  );
  const { text, warnings } = await read(file);
  expect(text).toContain(TABLE);
  expect(warnings).toEqual([
    { code: "embedded_files_left_out", count: 1 },
    { code: "images_without_text", count: 1 },
    { code: "headers_and_footers_left_out", count: 1 },
  ]);
});

test("a truncated text or record affects no other text", async () => {
  const file = workbook([
    object(6),
    ...objectText(900, narrow("cut")),
    object(6),
    record(0x1b6, [0]),
    record(0x3c, []),
    record(0x85, [1]),
  ]);
  expect(await read(file)).toEqual({ text: `## First\n\n${TABLE}\n\n## Zwei é\n\n${TABLE}`, warnings: [] });
});

test("a container with a damaged signature has no drawings, but its cells are read", async () => {
  const file = workbook([]);
  file[5] = 0;
  const { text, warnings } = await read(file);
  expect(text).not.toBe("");
  expect(warnings).toEqual([]);
});
