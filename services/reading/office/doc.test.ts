import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { UnreadableFile } from "../reader.ts";
import { readDoc } from "./doc.ts";
import { readDocx } from "./docx.ts";

const folder = new URL("../../../test/files/", import.meta.url);
const file = (name: string): Buffer => readFileSync(new URL(name, folder));

test("a document reads the same in Word's old format and in its new one", async () => {
  expect(await readDoc(file("guide.doc"))).toEqual(await readDocx(file("guide.docx")));
});

test("a damaged document is refused, and harms nothing", async () => {
  const whole = file("guide.doc");
  const cuts = [0, 8, 512, 5_000, whole.length >> 1].map((length) => whole.subarray(0, length));
  for (const cut of cuts) await expect(readDoc(cut)).rejects.toThrow(UnreadableFile);
});

test("a protected document says so", async () => {
  const bytes = file("guide.doc");
  const main = bytes.indexOf(Buffer.from("eca5", "hex"));
  bytes.writeUInt16LE(bytes.readUInt16LE(main + 0xa) | 0x0100, main + 0xa);
  await expect(readDoc(bytes)).rejects.toThrow("password");
});

test("what only claims to be a Word document is refused", async () => {
  await expect(readDoc(file("guide.docx"))).rejects.toThrow(UnreadableFile);
  await expect(readDoc(file("stock.xls"))).rejects.toThrow(UnreadableFile);
});
