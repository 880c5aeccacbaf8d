import { readFile } from "node:fs/promises";
import { CFB } from "@e965/xlsx";
import { zipSync, strToU8 } from "fflate";
import { describe, expect, test, vi } from "vitest";
import { MEDIA_TYPES } from "#events/mediaTypes.ts";
import { detectZipType } from "./containerTypes.ts";
import { detectType } from "./detectType.ts";

const OCTETS = "application/octet-stream";
const detect = (bytes: Buffer | string, filename = "x", mimetype = OCTETS, pictures = true) =>
  detectType({ bytes: Buffer.from(bytes), filename, mimetype }, { pictures });
const refused = expect.objectContaining({ errorCode: "unsupported_file_type", status: 415 });
const real = (name: string) => readFile(new URL(`../../test/files/${name}`, import.meta.url));

test.each([
  ["guide.pdf", MEDIA_TYPES.pdf],
  ["guide.docx", MEDIA_TYPES.docx],
  ["guide-pandoc.docx", MEDIA_TYPES.docx],
  ["guide.doc", MEDIA_TYPES.doc],
  ["guide.odt", MEDIA_TYPES.odt],
  ["guide.epub", MEDIA_TYPES.epub],
  ["guide.rtf", MEDIA_TYPES.rtf],
  ["guide.html", MEDIA_TYPES.html],
  ["deck.pptx", MEDIA_TYPES.pptx],
  ["deck.odp", MEDIA_TYPES.odp],
  ["stock.xlsx", MEDIA_TYPES.xlsx],
  ["stock.xls", MEDIA_TYPES.xls],
  ["stock.ods", MEDIA_TYPES.ods],
])("the type of %s is detected by its bytes", async (file, type) => expect(await detect(await real(file))).toBe(type));

test.each([
  ["guide.md", MEDIA_TYPES.md],
  ["stock.csv", MEDIA_TYPES.csv],
  ["mail.eml", MEDIA_TYPES.eml],
  ["settings.json", MEDIA_TYPES.json],
  ["letter-1252.txt", MEDIA_TYPES.txt],
  ["letter-utf16.txt", MEDIA_TYPES.txt],
  ["locked.xlsx", MEDIA_TYPES.xlsx],
  ["locked.docx", MEDIA_TYPES.docx],
])("the type of %s is detected by its ending", async (file, type) =>
  expect(await detect(await real(file), file)).toBe(type),
);

describe("detecting the type of text", () => {
  test("XML in UTF-16 needs no byte order mark", async () => {
    const bytes = Buffer.from('<?xml version="1.0" encoding="UTF-16"?><a/>', "utf16le");
    expect(await detect(bytes, "a.xml")).toBe(MEDIA_TYPES.xml);
    expect(await detect(Buffer.from(bytes).swap16(), "a.xml", "text/xml")).toBe(MEDIA_TYPES.xml);
  });

  test.each([
    ["a.md", "text/plain", MEDIA_TYPES.md],
    ["a.md", "text/csv", MEDIA_TYPES.csv],
    ["a.csv", "application/vnd.ms-excel", MEDIA_TYPES.csv],
    ["a.bin", "text/plain; charset=utf-8", MEDIA_TYPES.txt],
    ["README", OCTETS, MEDIA_TYPES.txt],
    ["a.pdf", "application/pdf", MEDIA_TYPES.pdf],
    ["a.docx", OCTETS, MEDIA_TYPES.docx],
  ])("named %s and declared %s gives the right type", async (name, declared, type) => {
    expect(await detect("BM, that is text", name, declared)).toBe(type);
  });

  test.each([
    ["a.xyz", OCTETS],
    ["a", "application/x-unknown"],
    ["a.png", "image/png"],
  ])("named %s and declared %s is refused", async (name, declared) => {
    await expect(detect("text", name, declared)).rejects.toEqual(refused);
  });

  test("accepts a stray control character but no NUL", async () => {
    expect(await detect(`${"words ".repeat(20)}\u0001`, "a.txt")).toBe(MEDIA_TYPES.txt);
    await expect(detect("a\u0000b", "a.txt", "text/plain")).rejects.toEqual(refused);
  });

  test("recognizes an HTML page without a claimed type", async () =>
    expect(await detect("\n <!DOCTYPE html>\n<p>x")).toBe(MEDIA_TYPES.html));
});

describe("detecting the type of binary files", () => {
  const zip = (files: Record<string, string>) =>
    Buffer.from(zipSync(Object.fromEntries(Object.entries(files).map(([name, text]) => [name, strToU8(text)]))));

  test("goes by the content of an archive, whatever its name and declared type", async () => {
    const docx = zip({ "[Content_Types].xml": "x", "word/document.xml": "x" });
    expect(await detect(docx, "a.pdf", "application/pdf")).toBe(MEDIA_TYPES.docx);
    await expect(detect(zip({ "a.txt": "x" }), "a.zip", "application/zip")).rejects.toEqual(refused);
  });

  test("reads only the beginnings of an archive's names, which may be long", () => {
    const archive = zip(Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`${n}${"x".repeat(60_000)}`, ""])));
    const read = vi.spyOn(archive, "toString");
    expect(detectZipType(archive)).toBeUndefined();
    const bytes = read.mock.results.map(({ value }) => (value as string).length);
    expect(bytes.length).toBeGreaterThan(8);
    expect(Math.max(...bytes)).toBeLessThan(100);
  });

  test("uses the claimed type of broken archives, so that their reader reports what is wrong", async () => {
    const cut = zip({ "word/document.xml": "x" }).subarray(0, 40);
    expect(await detect(cut, "a.docx")).toBe(MEDIA_TYPES.docx);
    expect(await detect(zip({ x: "x" }), "a.epub")).toBe(MEDIA_TYPES.epub);
    await expect(detect(cut, "a.pdf")).rejects.toEqual(refused);
    const compound = Buffer.concat([Buffer.from("d0cf11e0a1b11ae1", "hex"), Buffer.alloc(600)]);
    expect(await detect(compound, "a.doc")).toBe(MEDIA_TYPES.doc);
    expect(await detect(compound, "a.msg")).toBe(MEDIA_TYPES.msg);
    expect(await detect(Buffer.from("\u0000garbage"), "a.pdf")).toBe(MEDIA_TYPES.pdf);
  });

  test.each([
    ["a workbook with a document in it", ["/MBD00000001/WordDocument", "/Workbook"], MEDIA_TYPES.xls],
    ["a document with a workbook in it", ["/ObjectPool/_1/Workbook", "/WordDocument"], MEDIA_TYPES.doc],
    ["an old workbook", ["/Book"], MEDIA_TYPES.xls],
  ])("takes %s for what it is", async (_name, streams, type) => {
    const built = CFB.utils.cfb_new() as object;
    for (const stream of streams) CFB.utils.cfb_add(built, stream, Buffer.alloc(5_000));
    expect(await detect(Buffer.from(CFB.write(built, { type: "buffer" }) as Uint8Array), "a.doc")).toBe(type);
  });

  test("detects a message, not the document that is attached to it", async () => {
    const built = CFB.utils.cfb_new() as object;
    for (const stream of ["/__properties_version1.0", "/__attach_version1.0_#00000000/WordDocument"])
      CFB.utils.cfb_add(built, stream, Buffer.alloc(5_000));
    const message = Buffer.from(CFB.write(built, { type: "buffer" }) as Uint8Array);
    expect(await detect(message, "a.doc")).toBe(MEDIA_TYPES.msg);
  });

  test("refuses an old presentation with advice", async () => {
    const built = CFB.utils.cfb_new() as object;
    CFB.utils.cfb_add(built, "/PowerPoint Document", Buffer.alloc(5_000));
    const deck = Buffer.from(CFB.write(built, { type: "buffer" }) as Uint8Array);
    await expect(detect(deck, "a.ppt")).rejects.toThrow(".pptx");
  });

  test.each([
    ["a PNG", "89504e470d0a1a0a0000000d4948445200000001", MEDIA_TYPES.png],
    ["a JPEG", "ffd8ffe000104a46494600010100000100010000", MEDIA_TYPES.jpg],
    ["a TIFF", "49492a00080000000000000000000000", MEDIA_TYPES.tiff],
    ["a WebP", "524946461a000000574542505650382000000000", MEDIA_TYPES.webp],
    ["a GIF", "47494638396101000100800000000000ffffff21", MEDIA_TYPES.gif],
    ["a HEIC", "0000001c6674797068656963000000006d696631", MEDIA_TYPES.heic],
    ["a HEIC of another brand", "0000001c667479706d696631000000006d696631", MEDIA_TYPES.heic],
  ])("recognizes %s under any name, unless text recognition is off", async (_name, hex, type) => {
    for (const [name, declared] of [
      ["a.pdf", "application/pdf"],
      ["a.txt", "text/plain"],
      ["a.png", "image/png"],
    ]) {
      expect(await detect(Buffer.from(hex, "hex"), name, declared)).toBe(type);
      await expect(detect(Buffer.from(hex, "hex"), name, declared, false)).rejects.toEqual(refused);
    }
  });

  test.each([
    ["a program", "7f454c4602010100000000000000000002003e00"],
    ["compressed text", "1f8b0800000000000003"],
  ])("refuses %s under any name", async (_name, hex) => {
    for (const [name, declared] of [
      ["a.pdf", "application/pdf"],
      ["a.txt", "text/plain"],
      ["a.docx", OCTETS],
    ])
      await expect(detect(Buffer.from(hex, "hex"), name, declared)).rejects.toEqual(refused);
  });
});
