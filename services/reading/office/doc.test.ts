import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { UnreadableFile } from "../reader.ts";
import { readDoc } from "./doc.ts";
import { readDocx } from "./docx.ts";

const folder = new URL("../../../test/files/", import.meta.url);
const file = (name: string): Buffer => readFileSync(new URL(name, folder));

test("a document gives the same Markdown from .doc and .docx", async () => {
  expect(await readDoc(file("guide.doc"))).toEqual(await readDocx(file("guide.docx")));
});

test("a damaged .doc is refused as unreadable or read, and throws nothing else", async () => {
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

test("a file that is no .doc is refused", async () => {
  await expect(readDoc(file("guide.docx"))).rejects.toThrow(UnreadableFile);
  await expect(readDoc(file("stock.xls"))).rejects.toThrow(UnreadableFile);
});
