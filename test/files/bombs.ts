import { deflateSync } from "node:zlib";
import { docxOf, onePage, pdfOf, wordXml, xlsxOf } from "./documents.ts";
import { realFile } from "./index.ts";
import { bomb, zipOf } from "./zip.ts";

/** A file that means harm, and how its reading may end. */
export interface Hostile {
  title: string;
  name: string;
  content: Buffer<ArrayBuffer> | string;
  ends: ("ready" | "failed")[];
}

const failed: Hostile["ends"] = ["failed"];
const either: Hostile["ends"] = ["ready", "failed"];
/** What a file may not fetch from this machine into its text. */
export const CANARY = "root:x:0:0";

const hostile = (title: string, name: string, ends: Hostile["ends"], content: Hostile["content"]): Hostile => ({
  title,
  name,
  ends,
  content,
});

const GIGABYTE = 1_000;
/** Says that its text has 4 billion signs. */
const endlessDoc = (): Buffer<ArrayBuffer> => {
  const bytes = realFile("guide.doc");
  bytes.writeUInt32LE(0xfffffff0, bytes.indexOf(Buffer.from([0xec, 0xa5])) + 0x4c);
  return bytes;
};

const zips = (): Hostile[] => {
  const word = docxOf(wordXml("Harmless words."));
  return [
    hostile(
      "1 GB of document.xml",
      "flat.docx",
      failed,
      docxOf({ content: "", packed: bomb(GIGABYTE), size: GIGABYTE * 1_048_576 }),
    ),
    hostile(
      "1 GB that says it is 100 bytes",
      "small.docx",
      failed,
      docxOf({ content: "", packed: bomb(GIGABYTE), size: 100 }),
    ),
    hostile(
      "1 GB beside the text",
      "beside.docx",
      either,
      docxOf(wordXml("Words beside a bomb."), [
        { name: "word/media/a.xml", content: "", packed: bomb(GIGABYTE), size: 100 },
      ]),
    ),
    hostile(
      "20,000 entries",
      "many.docx",
      failed,
      docxOf(
        wordXml("Many."),
        Array.from({ length: 20_000 }, (_, n) => ({ name: `word/${n}.xml`, content: "" })),
      ),
    ),
    hostile(
      "entries that overlap",
      "overlap.docx",
      failed,
      docxOf(
        { content: "", packed: bomb(50), size: 50 * 1_048_576 },
        Array.from({ length: 300 }, (_, n) => ({
          name: `word/o${n}.xml`,
          content: "",
          packed: bomb(50),
          size: 50 * 1_048_576,
          offset: 700,
        })),
      ),
    ),
    hostile("sizes of 4 GB", "large.xlsx", failed, docxOf({ content: wordXml("x"), size: 0xfffffffe })),
    hostile(
      "names that climb",
      "climb.docx",
      either,
      docxOf(wordXml("Climbing words."), [
        { name: "../../../tmp/climbed.txt", content: "out" },
        { name: "/etc/climbed", content: "out" },
        { name: "word/link", content: "/etc/passwd", attributes: 0xa1ff0000 },
        { name: "__proto__", content: "polluted" },
      ]),
    ),
    hostile("an archive in itself", "nested.docx", failed, zipOf([{ name: "word/document.xml", content: word }])),
    hostile("no document within", "hollow.docx", failed, zipOf([{ name: "word/other.xml", content: "<a/>" }])),
    hostile("a directory that is cut off", "cut.docx", failed, word.subarray(0, word.length - 40)),
    hostile("half a file", "half.docx", failed, realFile("guide.docx").subarray(0, 5_000)),
    hostile("half a sheet", "half.xlsx", failed, realFile("stock.xlsx").subarray(0, 2_500)),
    hostile("half a presentation", "half.pptx", failed, realFile("deck.pptx").subarray(0, 20_000)),
    hostile("4 billion signs that are not there", "endless.doc", either, endlessDoc()),
    hostile("half an old document", "half.doc", either, realFile("guide.doc").subarray(0, 9_000)),
  ];
};

const laughs = (root: string) =>
  `<!DOCTYPE ${root} [<!ENTITY a0 "ha">${Array.from({ length: 30 }, (_, n) => `<!ENTITY a${n + 1} "&a${n};&a${n};">`).join("")}]>`;
const outside = (root: string) => `<!DOCTYPE ${root} [<!ENTITY x SYSTEM "file:///etc/passwd">]>`;
const deep = (tag: string, depth: number) => `<${tag}>`.repeat(depth) + "bottom" + `</${tag}>`.repeat(depth);

const xmls = (): Hostile[] => [
  hostile("a billion laughs in Word", "laughs.docx", failed, docxOf(wordXml("&a30;", laughs("w:document")))),
  hostile(
    "a billion laughs in Excel",
    "laughs.xlsx",
    failed,
    xlsxOf(
      '<sheetData><row r="1"><c r="A1" t="s"><v>0</v></c></row></sheetData>',
      `<?xml version="1.0"?>${laughs("sst")}<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si><t>&a30;</t></si></sst>`,
    ),
  ),
  hostile("a billion laughs in XML", "laughs.xml", either, `<?xml version="1.0"?>${laughs("a")}<a>&a30;</a>`),
  hostile("an entity of this machine in Word", "outside.docx", failed, docxOf(wordXml("&x;", outside("w:document")))),
  hostile(
    "an entity of this machine in XML",
    "outside.xml",
    either,
    `<?xml version="1.0"?>${outside("a")}<a>words &x;</a>`,
  ),
  hostile("100,000 tags within each other in Word", "deep.docx", either, docxOf(wordXml(deep("w:r", 100_000)))),
  hostile("100,000 tags within each other in XML", "deep.xml", either, `<?xml version="1.0"?>${deep("a", 100_000)}`),
  hostile(
    "100,000 tags within each other in HTML",
    "deep.html",
    either,
    `<!doctype html><html><body>${deep("div", 100_000)}</body></html>`,
  ),
  hostile(
    "20,000 tables within each other",
    "tables.html",
    either,
    `<!doctype html><html><body>${"<table><tr><td>".repeat(20_000)}x</body></html>`,
  ),
  hostile(
    "a table of a million columns",
    "wide.html",
    either,
    '<!doctype html><html><body><table><tr><td colspan="1000000" rowspan="65000">x</td></tr><tr><td>y</td></tr></table></body></html>',
  ),
  hostile(
    "a sheet that says it is full",
    "full.xlsx",
    ["ready"],
    xlsxOf(
      '<dimension ref="A1:XFD1048576"/><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>one</t></is></c></row><row r="1048576"><c r="XFD1048576" t="inlineStr"><is><t>two</t></is></c></row></sheetData>',
    ),
  ),
];

const TEXT = Buffer.from("BT /F1 12 Tf 50 700 Td (Words on a page.) Tj ET");
const flate = (times: number) => `/Filter [${"/FlateDecode ".repeat(times)}]`;
const pdfs = (): Hostile[] => {
  let chained: Buffer = deflateSync(Buffer.alloc(200_000_000, " "));
  chained = deflateSync(deflateSync(chained));
  const pages = ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 >>"];
  return [
    hostile("200 MB in three filters", "chain.pdf", failed, pdfOf(onePage(flate(3), chained))),
    hostile("pages that are their own", "loop.pdf", failed, pdfOf(pages)),
    hostile(
      "a million pages that are not there",
      "pages.pdf",
      failed,
      pdfOf([pages[0]!, "<< /Type /Pages /Kids [] /Count 1000000 >>"]),
    ),
    hostile(
      "100,000 arrays within each other",
      "arrays.pdf",
      either,
      pdfOf([...onePage("", TEXT), "[".repeat(100_000) + "]".repeat(100_000)]),
    ),
    hostile(
      "a length that is not so",
      "length.pdf",
      either,
      Buffer.from(pdfOf(onePage("", TEXT)).toString("latin1").replace("/Length 47", "/Length 99999999"), "latin1"),
    ),
    hostile(
      "a form that draws itself",
      "form.pdf",
      either,
      pdfOf(
        onePage("", Buffer.from("/X Do")).map((object) =>
          typeof object === "string"
            ? object.replace("/Font <<", "/XObject << /X 4 0 R >> /Font <<")
            : ([
                `/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 4 0 R >> >>`,
                object[1],
              ] as [string, Buffer]),
        ),
      ),
    ),
    hostile("half a PDF", "half.pdf", either, realFile("guide.pdf").subarray(0, 30_000)),
    hostile("a head and nothing else", "head.pdf", failed, "%PDF-1.7\n"),
    hostile(
      "a PDF with scripts",
      "script.pdf",
      ["ready"],
      pdfOf(
        onePage("", TEXT).map((object) =>
          object === pages[0]
            ? "<< /Type /Catalog /Pages 2 0 R /OpenAction << /S /JavaScript /JS (while\\(1\\){}) >> >>"
            : object,
        ),
      ),
    ),
  ];
};

const nestedMail = (depth: number): string =>
  `Content-Type: multipart/mixed; boundary="b0"\r\nSubject: deep\r\n\r\n${Array.from({ length: depth }, (_, n) => `--b${n}\r\nContent-Type: multipart/mixed; boundary="b${n + 1}"\r\n\r\n`).join("")}--b${depth}\r\n\r\nbottom\r\n`;

const texts = (): Hostile[] => [
  hostile("100,000 brackets of JSON", "deep.json", either, "[".repeat(100_000) + "]".repeat(100_000)),
  hostile("JSON that is none", "none.json", either, '{"a": '),
  hostile("10,000 quotes within each other", "quotes.md", either, `${">".repeat(10_000)} bottom`),
  hostile("50,000 open brackets of Markdown", "brackets.md", ["ready"], "[".repeat(50_000)),
  hostile("50,000 open stars of Markdown", "stars.md", ["ready"], "*a **a ".repeat(25_000)),
  hostile(
    "a list 2,000 deep",
    "list.md",
    either,
    Array.from({ length: 2_000 }, (_, n) => `${" ".repeat(2 * n)}- item`).join("\n"),
  ),
  hostile("one line of 5 MB", "line.txt", ["ready"], "word ".repeat(1_000_000)),
  hostile("one word of 2 MB", "word.txt", ["ready"], "w".repeat(2_000_000)),
  hostile("a row of 200,000 cells", "wide.csv", either, `${"a,".repeat(200_000)}b\n1\n`),
  hostile("a quote that is never closed", "open.csv", ["ready"], `a,b\n"${"c,d\n".repeat(50_000)}`),
  hostile(
    "100,000 groups within each other",
    "deep.rtf",
    either,
    `{\\rtf1 ${"{".repeat(100_000)}x${"}".repeat(100_000)}}`,
  ),
  hostile("a picture's length in RTF", "bin.rtf", either, "{\\rtf1 {\\pict\\bin999999999 abc} words}"),
  hostile("5,000 parts of mail within each other", "deep.eml", either, nestedMail(5_000)),
  hostile(
    "halves of characters",
    "odd.txt",
    either,
    Buffer.from("776f7264732c20eda0802c20c3282c20f0908d2c20656e64", "hex"),
  ),
  hostile("spaces only", "spaces.txt", failed, " \n\t\r\n ".repeat(1_000)),
];

/** Every hostile file; made when asked for. */
export const hostileFiles = (): Hostile[] => [...zips(), ...xmls(), ...pdfs(), ...texts()];
