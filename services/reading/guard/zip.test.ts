import { strToU8, zipSync } from "fflate";
import { deflateRawSync } from "node:zlib";
import { expect, test } from "vitest";
import { UnreadableFile } from "../reader.ts";
import { checkZip, openZip } from "./zip.ts";

const viewOf = (zip: Uint8Array) => new DataView(zip.buffer, zip.byteOffset, zip.byteLength);

/** Offset of an entry in the central directory. */
const entryAt = (zip: Uint8Array, number: number): number => {
  const view = viewOf(zip);
  let at = view.getUint32(zip.length - 22 + 16, true);
  for (let skip = number; skip > 0; skip -= 1) {
    at += 46 + view.getUint16(at + 28, true) + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return at;
};

test("stored and deflated parts are read by name, in any case", () => {
  const zip = openZip(zipSync({ "a/B.xml": strToU8("<b/>"), "c.txt": [strToU8("stored"), { level: 0 }] }));
  expect(zip.names()).toEqual(["a/B.xml", "c.txt"]);
  expect(zip.text("A/b.XML")).toBe("<b/>");
  expect(zip.text("c.txt")).toBe("stored");
  expect(zip.text("d.txt")).toBeUndefined();
});

test("a part is decoded by its byte order mark or XML declaration", () => {
  const latin = Buffer.from(`<?xml version="1.0" encoding="ISO-8859-1"?><a>\u00e9</a>`, "latin1");
  const wide = Buffer.from("\ufeff<a>\u4e2d</a>", "utf16le");
  const zip = openZip(zipSync({ "latin.xml": latin, "wide.xml": wide }));
  expect(zip.text("latin.xml")).toContain("<a>\u00e9</a>");
  expect(zip.text("wide.xml")).toBe("<a>\u4e2d</a>");
});

test.each([
  ["an empty file", new Uint8Array()],
  ["a PDF", strToU8("%PDF-1.7".repeat(50))],
  ["half an archive", zipSync({ "a.xml": strToU8("<a/>") }).slice(40)],
  ["a truncated archive", zipSync({ "a.xml": strToU8("<a/>") }).slice(0, -30)],
])("%s is refused as an archive", (_, bytes) => {
  expect(() => openZip(bytes)).toThrow(UnreadableFile);
});

test("a part that is larger than declared is refused before it is fully unpacked", () => {
  const zip = zipSync({ "a.xml": new Uint8Array(50_000_000) });
  viewOf(zip).setUint32(entryAt(zip, 0) + 24, 1000, true);
  expect(() => openZip(zip).bytes("a.xml")).toThrow("cannot be unpacked");
  expect(() => checkZip(zip)).toThrow("cannot be unpacked");
});

test("a part smaller than declared is refused", () => {
  const zip = zipSync({ "a.xml": strToU8("<a/>") });
  viewOf(zip).setUint32(entryAt(zip, 0) + 24, 1000, true);
  expect(() => openZip(zip).bytes("a.xml")).toThrow(UnreadableFile);
});

test("a part of 200 times its packed size is refused only above 10 MB", () => {
  expect(() => openZip(zipSync({ a: new Uint8Array(11_000_000) }))).toThrow("too large");
  expect(openZip(zipSync({ a: new Uint8Array(9_000_000) })).bytes("a")).toHaveLength(9_000_000);
});

test("parts with a total of more than 500 MB are refused", () => {
  const zip = zipSync({ a: strToU8("a"), b: strToU8("b") }, { level: 0 });
  for (const number of [0, 1]) viewOf(zip).setUint32(entryAt(zip, number) + 24, 9_999_999, true);
  expect(() => openZip(zip)).not.toThrow();
  const parts = Object.fromEntries(Array.from({ length: 51 }, (_, part) => [`${part}`, strToU8("x")]));
  const many = zipSync(parts, { level: 0 });
  for (let part = 0; part < 51; part += 1) viewOf(many).setUint32(entryAt(many, part) + 24, 9_999_999, true);
  expect(() => openZip(many)).toThrow("too large");
});

test("parts that share bytes are refused", () => {
  const zip = zipSync({ a: strToU8("a".repeat(999)), b: strToU8("a".repeat(999)) });
  viewOf(zip).setUint32(entryAt(zip, 1) + 42, 0, true);
  expect(() => openZip(zip)).toThrow("damaged");
});

test("more than 10,000 parts are refused", () => {
  const parts = Object.fromEntries(Array.from({ length: 10_001 }, (_, part) => [`${part}`, new Uint8Array()]));
  expect(() => openZip(zipSync(parts, { level: 0 }))).toThrow("too many parts");
});

test("encrypted parts and unsupported compression methods are refused", () => {
  const locked = zipSync({ a: strToU8("a") });
  viewOf(locked).setUint16(entryAt(locked, 0) + 8, 1, true);
  expect(() => openZip(locked).bytes("a")).toThrow("password");
  const odd = zipSync({ a: strToU8("a".repeat(99)) });
  viewOf(odd).setUint16(entryAt(odd, 0) + 10, 12, true);
  expect(() => openZip(odd).bytes("a")).toThrow("cannot be read");
});

test("64 bit sizes are checked too", () => {
  const packed = deflateRawSync(Buffer.from("wide"));
  const zip = wideZip("a.txt", packed, 4);
  expect(openZip(zip).text("a.txt")).toBe("wide");
  expect(() => openZip(wideZip("a.txt", packed, 2 ** 40))).toThrow("too large");
});

test("checkZip refuses document types in XML parts", () => {
  expect(() => checkZip(zipSync({ "a.xml": strToU8(`<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>`) }))).toThrow(
    "document type",
  );
  expect(() => checkZip(zipSync({ "a.xml": strToU8("<a/>"), "b.html": strToU8("<!DOCTYPE html>") }))).not.toThrow();
});

/** An archive of one part whose size is in the 64 bit field. */
const wideZip = (name: string, packed: Buffer, size: number): Buffer => {
  const local = Buffer.alloc(30);
  local.writeUInt32LE(0x04034b50);
  local.writeUInt16LE(8, 8);
  local.writeUInt16LE(name.length, 26);
  const entry = Buffer.alloc(46);
  entry.writeUInt32LE(0x02014b50);
  entry.writeUInt16LE(8, 10);
  entry.writeUInt32LE(packed.length, 20);
  entry.writeUInt32LE(0xffffffff, 24);
  entry.writeUInt16LE(name.length, 28);
  entry.writeUInt16LE(12, 30);
  const extra = Buffer.alloc(12);
  extra.writeUInt16LE(1);
  extra.writeUInt16LE(8, 2);
  extra.writeBigUInt64LE(BigInt(size), 4);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(local.length + name.length + packed.length, 16);
  const bytes = Buffer.from(name);
  return Buffer.concat([local, bytes, packed, entry, bytes, extra, end]);
};
