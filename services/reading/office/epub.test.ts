import { expect, test } from "vitest";
import { book } from "#test/reading/packed.ts";
import { UnreadableFile } from "../reader.ts";
import { readEpub } from "./epub.ts";

test("pages follow each other as in the book", async () => {
  expect(await readEpub(book({ "z.xhtml": "<h1>One</h1><p>First.</p>", "a.xhtml": "<h1>Two</h1>" }))).toEqual([
    "# One\n\nFirst.\n\n# Two",
  ]);
});

test("a note may stand on a page of its own", async () => {
  const text = '<p id="p">Text<a epub:type="noteref" href="notes.xhtml#p">1</a></p>';
  const notes = '<aside id="p">The note.</aside>';
  expect(await readEpub(book({ "text.xhtml": text, "notes.xhtml": notes }))).toEqual(["Text[^1]\n\n[^1]: The note."]);
});

test("a page with a lock is refused, a disguised font is not", async () => {
  const locked = (name: string): string =>
    `<encryption><EncryptedData><CipherReference URI="${name}"/></EncryptedData></encryption>`;
  const pages = { "one.xhtml": "<p>Text</p>" };
  expect(await readEpub(book(pages, { "META-INF/encryption.xml": locked("OPS/font.otf") }))).toEqual(["Text"]);
  await expect(readEpub(book(pages, { "META-INF/encryption.xml": locked("OPS/one.xhtml") }))).rejects.toThrow(
    "publisher",
  );
});

test("addresses that lead out of the book lead nowhere", async () => {
  const away = book({ "../../../etc/hostname": "<p>inside</p>", "%zz": "<p>broken</p>" });
  expect(await readEpub(away)).toEqual([""]);
});

test("what is no book is refused", async () => {
  await expect(readEpub(Buffer.from("Hello"))).rejects.toThrow(UnreadableFile);
});
