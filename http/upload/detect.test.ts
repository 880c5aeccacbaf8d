import { readFile } from "node:fs/promises";
import { zipSync, strToU8 } from "fflate";
import { describe, expect, test } from "vitest";
import { types } from "#events/mediaTypes.ts";
import { detectType } from "./detect.ts";

const OCTETS = "application/octet-stream";
const detect = (bytes: Buffer | string, filename = "x", mimetype = OCTETS) =>
  detectType({ bytes: Buffer.from(bytes), filename, mimetype });
const refused = expect.objectContaining({ errorCode: "unsupported_file_type", status: 415 });
const real = (name: string) => readFile(new URL(`../../test/files/${name}`, import.meta.url));

test.each([
  ["guide.pdf", types.pdf],
  ["guide.docx", types.docx],
  ["guide-pandoc.docx", types.docx],
  ["guide.doc", types.doc],
  ["guide.odt", types.odt],
  ["guide.epub", types.epub],
  ["guide.rtf", types.rtf],
  ["guide.html", types.html],
  ["deck.pptx", types.pptx],
  ["deck.odp", types.odp],
  ["stock.xlsx", types.xlsx],
  ["stock.xls", types.xls],
  ["stock.ods", types.ods],
])("%s is known by its bytes", async (file, type) => expect(await detect(await real(file))).toBe(type));

test.each([
  ["guide.md", types.md],
  ["stock.csv", types.csv],
  ["mail.eml", types.eml],
  ["settings.json", types.json],
  ["letter-1252.txt", types.txt],
  ["letter-utf16.txt", types.txt],
  ["locked.xlsx", types.xlsx],
  ["locked.docx", types.docx],
])("%s is known by its ending", async (file, type) => expect(await detect(await real(file), file)).toBe(type));

describe("text", () => {
  test.each([
    ["a.md", "text/plain", types.md],
    ["a.md", "text/csv", types.csv],
    ["a.csv", "application/vnd.ms-excel", types.csv],
    ["a.bin", "text/plain; charset=utf-8", types.txt],
    ["README", OCTETS, types.txt],
    ["a.pdf", "application/pdf", types.pdf],
    ["a.docx", OCTETS, types.docx],
  ])("named %s and declared %s", async (name, declared, type) => {
    expect(await detect("BM, that is text", name, declared)).toBe(type);
  });

  test.each([
    ["a.xyz", OCTETS],
    ["a", "application/x-unknown"],
    ["a.png", "image/png"],
  ])("named %s and declared %s has no reader", async (name, declared) => {
    await expect(detect("text", name, declared)).rejects.toEqual(refused);
  });

  test("may hold a stray control character, and no NUL", async () => {
    expect(await detect(`${"words ".repeat(20)}\u0001`, "a.txt")).toBe(types.txt);
    await expect(detect("a\u0000b", "a.txt", "text/plain")).rejects.toEqual(refused);
  });

  test("that is a page says so", async () => expect(await detect("\n <!DOCTYPE html>\n<p>x")).toBe(types.html));
});

describe("packed bytes", () => {
  const zip = (files: Record<string, string>) =>
    Buffer.from(zipSync(Object.fromEntries(Object.entries(files).map(([name, text]) => [name, strToU8(text)]))));

  test("are what is in them, whatever they are called", async () => {
    const docx = zip({ "[Content_Types].xml": "x", "word/document.xml": "x" });
    expect(await detect(docx, "a.pdf", "application/pdf")).toBe(types.docx);
    await expect(detect(zip({ "a.txt": "x" }), "a.zip", "application/zip")).rejects.toEqual(refused);
  });

  test("that do not tell are what they are said to be, so that their reader says what is wrong", async () => {
    const cut = zip({ "word/document.xml": "x" }).subarray(0, 40);
    expect(await detect(cut, "a.docx")).toBe(types.docx);
    expect(await detect(zip({ x: "x" }), "a.epub")).toBe(types.epub);
    await expect(detect(cut, "a.pdf")).rejects.toEqual(refused);
    const compound = Buffer.concat([Buffer.from("d0cf11e0a1b11ae1", "hex"), Buffer.alloc(600)]);
    expect(await detect(compound, "a.doc")).toBe(types.doc);
    await expect(detect(compound, "a.msg")).rejects.toEqual(refused);
    expect(await detect(Buffer.from("\u0000garbage"), "a.pdf")).toBe(types.pdf);
  });

  test.each([
    ["a picture", "89504e470d0a1a0a0000000d4948445200000001"],
    ["a photograph", "ffd8ffe000104a46494600010100000100010000"],
    ["a program", "7f454c4602010100000000000000000002003e00"],
    ["packed text", "1f8b0800000000000003"],
  ])("of %s are refused under any name", async (_name, hex) => {
    for (const [name, declared] of [
      ["a.pdf", "application/pdf"],
      ["a.txt", "text/plain"],
      ["a.docx", OCTETS],
    ])
      await expect(detect(Buffer.from(hex, "hex"), name, declared)).rejects.toEqual(refused);
  });
});
