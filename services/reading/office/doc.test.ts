import { readFileSync } from "node:fs";
import { CFB } from "@e965/xlsx";
import { expect, test } from "vitest";
import type { ReadingWarning } from "#events/readingWarnings.ts";
import { UnreadableFile } from "../reader.ts";
import { readDoc } from "./doc.ts";
import type { DocFile } from "./docFile.ts";
import { warnOfDocParts } from "./docOmissions.ts";
import { readDocx } from "./docx.ts";

const folder = new URL("../../../test/files/", import.meta.url);
const file = (name: string): Buffer => readFileSync(new URL(name, folder));

test("a document gives the same Markdown from .doc and .docx", async () => {
  expect(await readDoc(file("guide.doc"))).toEqual(await readDocx(file("guide.docx")));
});

/** The file with modified streams, and with other streams before them. */
const rebuilt = (bytes: Buffer, change: (name: string, content: Buffer) => void, before: string[] = []): Buffer => {
  const { FullPaths, FileIndex } = CFB.read(bytes, { type: "buffer" }) as {
    FullPaths: string[];
    FileIndex: { content?: Uint8Array }[];
  };
  const built = CFB.utils.cfb_new() as object;
  for (const name of before) CFB.utils.cfb_add(built, name, Buffer.alloc(600, "another file"));
  for (const [index, path] of FullPaths.entries()) {
    const content = Buffer.from(FileIndex[index]?.content ?? []);
    const name = path.replace(/^[^/]*/, "");
    if (name.endsWith("/")) continue;
    change(name, content);
    CFB.utils.cfb_add(built, name, content);
  }
  return Buffer.from(CFB.write(built, { type: "buffer" }) as Uint8Array);
};

test("a .doc that contains another .doc is read without the embedded one", async () => {
  const folder = ["/ObjectPool/_1/1Table", "/ObjectPool/_1/WordDocument"];
  expect(await readDoc(rebuilt(file("guide.doc"), () => {}, folder))).toEqual(await readDoc(file("guide.doc")));
});

test("a .doc with fewer lists than declared is read", async () => {
  const bytes = file("guide.doc");
  const main = bytes.indexOf(Buffer.from("eca5", "hex"));
  const lists = bytes.readUInt32LE(main + 0x9a + 73 * 8);
  const announceMore = (name: string, content: Buffer): void => {
    if (name === "/1Table") content.writeUInt16LE(300, lists);
  };
  expect(await readDoc(rebuilt(bytes, announceMore))).toEqual(await readDoc(bytes));
});

test("labels of items that Markdown cannot count are read", async () => {
  // the text of a level, its number and a dot, becomes its number and an "a"
  const [dotted, lettered] = ["020000002e00", "020000006100"].map((hex) => Buffer.from(hex, "hex"));
  const change = (name: string, content: Buffer): void => {
    if (name !== "/1Table") return;
    for (let at = content.indexOf(dotted!); at >= 0; at = content.indexOf(dotted!)) lettered!.copy(content, at);
  };
  const [markdown] = await readDoc(rebuilt(file("guide.doc"), change));
  expect(markdown).toContain("- 1a Switch off the mains");
  expect(markdown).toContain("\n- 2a ");
});

test("a damaged .doc is read or refused as unreadable, and causes no other error", async () => {
  const whole = file("guide.doc");
  const cuts = [0, 8, 512, 5_000, whole.length >> 1].map((length) => whole.subarray(0, length));
  for (const cut of cuts) await expect(readDoc(cut)).rejects.toThrow(UnreadableFile);
});

test("a .doc with a password is refused with that reason", async () => {
  const bytes = file("guide.doc");
  const main = bytes.indexOf(Buffer.from("eca5", "hex"));
  bytes.writeUInt16LE(bytes.readUInt16LE(main + 0xa) | 0x0100, main + 0xa);
  await expect(readDoc(bytes)).rejects.toThrow("password");
});

test("a file that is not a .doc is refused", async () => {
  await expect(readDoc(file("guide.docx"))).rejects.toThrow(UnreadableFile);
  await expect(readDoc(file("stock.xls"))).rejects.toThrow(UnreadableFile);
});

test("boxes of a .doc that may be checked are reported", () => {
  const text = "\u0013 FORMCHECKBOX \u0001\u0014\u0015 Paid\r";
  const document: DocFile = {
    main: Buffer.alloc(0),
    text,
    locate: () => ({ offset: 0, width: 1, following: 1 }),
    table: () => Buffer.alloc(0),
    fonts: [],
    dataAfter: () => Buffer.alloc(0),
    lengths: { body: text.length, footnotes: 0, headers: 0, comments: 0, endnotes: 0, boxes: 0 },
  };
  const warnings: ReadingWarning[] = [];
  warnOfDocParts((warning) => warnings.push(warning), document);
  expect(warnings).toEqual([{ code: "form_fields_left_out", count: 1 }]);
});
