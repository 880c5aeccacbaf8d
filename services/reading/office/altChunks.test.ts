import { strToU8, unzipSync, zipSync } from "fflate";
import { expect, test } from "vitest";
import type { ReadingWarning } from "#events/readingWarnings.ts";
import { wordFile } from "#test/reading/archives.ts";
import { readDocx } from "./docx.ts";

const read = async (
  body: string,
  chunks: Record<string, string>,
): Promise<{ text: string; warnings: ReadingWarning[] }> => {
  const relations = Object.keys(chunks).map(
    (name, n) => `<Relationship Id="c${n}" Type="urn:x/aFChunk" Target="/word/${name}"/>`,
  );
  const parts = {
    "word/_rels/document.xml.rels": `<Relationships>${relations.join("")}</Relationships>`,
    ...Object.fromEntries(Object.entries(chunks).map(([name, text]) => [`word/${name}`, text])),
  };
  const added = Object.fromEntries(Object.entries(parts).map(([name, text]) => [name, strToU8(text)]));
  const warnings: ReadingWarning[] = [];
  const [text = ""] = await readDocx(zipSync({ ...unzipSync(wordFile(body)), ...added }), (one) => warnings.push(one));
  return { text, warnings };
};

const paragraph = (text: string): string => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;
const chunk = (n: number): string => `<w:altChunk xmlns:r="urn:r" r:id="c${n}"/>`;

const page =
  "<html><body><h2>Prices</h2><p>Net of <b>VAT</b>.</p><table><tr><td>Ale</td><td>2</td></tr></table></body></html>";
const archived = [
  "MIME-Version: 1.0",
  'Content-Type: multipart/related; boundary="x"',
  "",
  "--x",
  'Content-Type: text/html; charset="windows-1252"',
  "Content-Transfer-Encoding: quoted-printable",
  "",
  "<p>Caf=E9 =3D open</p>",
  "--x--",
].join("\r\n");

test("pages and texts embedded in a document are read at their places", async () => {
  const body = paragraph("Before") + chunk(0) + paragraph("Between") + chunk(1) + chunk(2) + paragraph("After");
  const chunks = { "a.html": page, "b.mht": archived, "c.txt": "One\n\nTwo & <three>" };
  expect(await read(body, chunks)).toEqual({
    text: [
      "Before",
      "## Prices",
      "Net of **VAT**.",
      "| Ale | 2 |\n| --- | --- |",
      "Between",
      "Café = open",
      "One",
      "Two & \\<three>",
      "After",
    ].join("\n\n"),
    warnings: [],
  });
});

test("omissions in embedded pages are reported", async () => {
  const hidden = "<p hidden>What only a program shows: more of it</p>";
  const html = `<p>Shown</p><img src="data:image/png;base64,AAAA"><iframe src="https://a.example/"></iframe>${hidden}`;
  const picture = ["--x", "Content-Type: image/png", "Content-Location: a.png", "", "content", "--x--"].join("\r\n");
  const page = archived.replace("--x--", picture);
  expect(await read(chunk(0) + chunk(1), { "a.html": html, "b.mht": page })).toEqual({
    text: "Shown\n\nCafé = open",
    warnings: [
      { code: "frames_left_out", count: 1 },
      { code: "images_without_text", count: 1 },
      { code: "hidden_text_left_out", count: 1 },
      { code: "images_without_text", count: 1 },
    ],
  });
});

test("embedded documents of other types are reported, and a missing page is not an error", async () => {
  expect(await read(paragraph("Text") + chunk(0) + chunk(1), { "a.rtf": "{\\rtf1 x}", "b.docx": "x" })).toEqual({
    text: "Text",
    warnings: [{ code: "embedded_files_left_out", count: 2 }],
  });
});

test("a page that is embedded twice is read once, and a document embeds at most 500 pages", async () => {
  expect((await read(chunk(0) + paragraph("Between") + chunk(0), { "a.txt": "Shown" })).text).toBe("Shown\n\nBetween");
  const many = Array.from({ length: 501 }, (_, n) => n);
  const chunks = Object.fromEntries(many.map((n) => [`${n}.txt`, "x"]));
  await expect(read(many.map(chunk).join(""), chunks)).rejects.toThrow("too many");
});

test("an embedded page has the same limits as a separate page", async () => {
  await expect(read(chunk(0), { "a.html": "<div>".repeat(600) })).rejects.toThrow("nested too deeply");
});
