import { expect, test } from "vitest";
import type { ReadingWarning } from "#events/readingWarnings.ts";
import { book } from "#test/reading/archives.ts";
import { UnreadableFile } from "../reader.ts";
import { readEpub } from "./epub.ts";

test("pages keep the order of the book", async () => {
  expect(await readEpub(book({ "z.xhtml": "<h1>One</h1><p>First.</p>", "a.xhtml": "<h1>Two</h1>" }))).toEqual([
    "# One\n\nFirst.\n\n# Two",
  ]);
});

test("a footnote on another page is found", async () => {
  const text = '<p id="p">Text<a epub:type="noteref" href="notes.xhtml#p">1</a></p>';
  const notes = '<aside id="p">The note.</aside>';
  expect(await readEpub(book({ "text.xhtml": text, "notes.xhtml": notes }))).toEqual(["Text[^1]\n\n[^1]: The note."]);
});

test("a page that a book names several times is read once", async () => {
  const opf = `<package><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest><spine>${'<itemref idref="a"/>'.repeat(50_000)}</spine></package>`;
  expect(await readEpub(book({ "a.xhtml": "<p>Text</p>" }, { "OPS/book.opf": opf }))).toEqual(["Text"]);
});

test("an encrypted page is refused, but an obfuscated font is not", async () => {
  const locked = (name: string, quote = '"'): string =>
    `<encryption><EncryptedData><CipherReference URI=${quote}${name}${quote}/></EncryptedData></encryption>`;
  const pages = { "one.xhtml": "<p>Text</p>" };
  expect(await readEpub(book(pages, { "META-INF/encryption.xml": locked("OPS/font.otf") }))).toEqual(["Text"]);
  for (const quote of ['"', "'"]) {
    const manifest = locked("OPS/font.otf", quote) + locked("OPS/one.xhtml", quote);
    await expect(readEpub(book(pages, { "META-INF/encryption.xml": manifest }))).rejects.toThrow("publisher");
  }
});

test("links that leave the archive are ignored", async () => {
  const away = book({ "../../../etc/hostname": "<p>inside</p>", "%zz": "<p>broken</p>" });
  expect(await readEpub(away)).toEqual([""]);
});

test("a file that is not a book is refused", async () => {
  await expect(readEpub(Buffer.from("Hello"))).rejects.toThrow(UnreadableFile);
});

test("pop-up notes of a book are read", async () => {
  const page = `<p>Tea<a epub:type="noteref" href="#n">1</a> is ready.</p><aside id="n" epub:type="footnote" hidden="hidden">Or coffee.</aside>`;
  expect(await readEpub(book({ "a.xhtml": page }))).toEqual(["Tea[^1] is ready.\n\n[^1]: Or coffee."]);
});

test("recordings, files and hidden texts of a book are reported", async () => {
  const warnings: ReadingWarning[] = [];
  const files = '<audio src="a.mp3"></audio><video><source src="b.mp4"/></video><iframe src="c.html"></iframe>';
  const page = `<p>Text of the page</p>${files}<p hidden="">The answers to all of the questions</p>`;
  expect(await readEpub(book({ "a.xhtml": page }), (warning) => warnings.push(warning))).toEqual(["Text of the page"]);
  expect(warnings).toEqual([
    { code: "hidden_text_left_out", count: 1 },
    { code: "embedded_files_left_out", count: 3 },
  ]);
});
