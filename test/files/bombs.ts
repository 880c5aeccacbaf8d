import { deflateSync } from "node:zlib";
import { docxOf, onePage, pdfOf, wordXml, xlsxOf } from "./documents.ts";
import { either, failed, hostile, type Hostile } from "./hostile.ts";
import { realFile } from "./index.ts";
import { openBombs } from "./openBombs.ts";
import { bomb, zipOf } from "./zip.ts";

/** The start of /etc/passwd, which no file may get into its text. */
export const CANARY = "root:x:0:0";

/** In MiB. */
const GIGABYTE = 1_000;
/** A Word 97 file that declares a text of 4 billion characters. */
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
      "1 GB declared as 100 bytes",
      "small.docx",
      failed,
      docxOf({ content: "", packed: bomb(GIGABYTE), size: 100 }),
    ),
    hostile(
      "1 GB next to the text",
      "next.docx",
      either,
      docxOf(wordXml("Words next to a bomb."), [
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
      "overlapping entries",
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
    hostile("a declared size of 4 GB", "large.xlsx", failed, docxOf({ content: wordXml("x"), size: 0xfffffffe })),
    hostile(
      "entry names with ../",
      "climb.docx",
      either,
      docxOf(wordXml("Climbing words."), [
        { name: "../../../tmp/climbed.txt", content: "out" },
        { name: "/etc/climbed", content: "out" },
        { name: "word/link", content: "/etc/passwd", attributes: 0xa1ff0000 },
        { name: "__proto__", content: "polluted" },
      ]),
    ),
    hostile(
      "an archive within an archive",
      "nested.docx",
      failed,
      zipOf([{ name: "word/document.xml", content: word }]),
    ),
    hostile(
      "an archive without a document",
      "hollow.docx",
      failed,
      zipOf([{ name: "word/other.xml", content: "<a/>" }]),
    ),
    hostile("a truncated directory", "cut.docx", failed, word.subarray(0, word.length - 40)),
    hostile("half a file", "half.docx", failed, realFile("guide.docx").subarray(0, 5_000)),
    hostile("half a sheet", "half.xlsx", failed, realFile("stock.xlsx").subarray(0, 2_500)),
    hostile("half a presentation", "half.pptx", failed, realFile("deck.pptx").subarray(0, 20_000)),
    hostile("a declared text of 4 billion characters", "endless.doc", either, endlessDoc()),
    hostile("half a Word 97 document", "half.doc", either, realFile("guide.doc").subarray(0, 9_000)),
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
  hostile("an external entity in Word", "outside.docx", failed, docxOf(wordXml("&x;", outside("w:document")))),
  hostile("an external entity in XML", "outside.xml", either, `<?xml version="1.0"?>${outside("a")}<a>words &x;</a>`),
  hostile("100,000 nested tags in Word", "deep.docx", either, docxOf(wordXml(deep("w:r", 100_000)))),
  hostile("100,000 nested tags in XML", "deep.xml", either, `<?xml version="1.0"?>${deep("a", 100_000)}`),
  hostile(
    "100,000 nested tags in HTML",
    "deep.html",
    either,
    `<!doctype html><html><body>${deep("div", 100_000)}</body></html>`,
  ),
  hostile(
    "20,000 nested tables",
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
    "a sheet that declares a million rows",
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
    hostile("200 MB in three nested filters", "chain.pdf", failed, pdfOf(onePage(flate(3), chained))),
    hostile("a page tree that contains itself", "loop.pdf", failed, pdfOf(pages)),
    hostile(
      "a declared count of a million pages",
      "pages.pdf",
      failed,
      pdfOf([pages[0]!, "<< /Type /Pages /Kids [] /Count 1000000 >>"]),
    ),
    hostile(
      "100,000 nested arrays",
      "arrays.pdf",
      either,
      pdfOf([...onePage("", TEXT), "[".repeat(100_000) + "]".repeat(100_000)]),
    ),
    hostile(
      "a false stream length",
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
    hostile("a header and nothing else", "head.pdf", failed, "%PDF-1.7\n"),
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
  hostile("100,000 nested brackets in JSON", "deep.json", either, "[".repeat(100_000) + "]".repeat(100_000)),
  hostile("invalid JSON", "none.json", either, '{"a": '),
  hostile("10,000 nested quotes", "quotes.md", either, `${">".repeat(10_000)} bottom`),
  hostile("50,000 open brackets in Markdown", "brackets.md", ["ready"], "[".repeat(50_000)),
  hostile("50,000 open asterisks in Markdown", "stars.md", ["ready"], "*a **a ".repeat(25_000)),
  hostile(
    "a list with 2,000 levels",
    "list.md",
    either,
    Array.from({ length: 2_000 }, (_, n) => `${" ".repeat(2 * n)}- item`).join("\n"),
  ),
  hostile("one line of 5 MB", "line.txt", ["ready"], "word ".repeat(1_000_000)),
  hostile("one word of 2 MB", "word.txt", ["ready"], "w".repeat(2_000_000)),
  hostile("a row of 200,000 cells", "wide.csv", either, `${"a,".repeat(200_000)}b\n1\n`),
  hostile("an unclosed quote", "open.csv", ["ready"], `a,b\n"${"c,d\n".repeat(50_000)}`),
  hostile("100,000 nested groups", "deep.rtf", either, `{\\rtf1 ${"{".repeat(100_000)}x${"}".repeat(100_000)}}`),
  hostile("a false picture length in RTF", "bin.rtf", either, "{\\rtf1 {\\pict\\bin999999999 abc} words}"),
  hostile("5,000 nested parts of mail", "deep.eml", either, nestedMail(5_000)),
  hostile("half an e-mail of Outlook", "half.msg", either, realFile("mail.msg").subarray(0, 3_000)),
  hostile(
    "incomplete characters",
    "odd.txt",
    either,
    Buffer.from("776f7264732c20eda0802c20c3282c20f0908d2c20656e64", "hex"),
  ),
  hostile("only spaces", "spaces.txt", failed, " \n\t\r\n ".repeat(1_000)),
];

/** Every hostile file. A function, because building them takes time and memory. */
export const hostileFiles = (): Hostile[] => [...zips(), ...xmls(), ...pdfs(), ...texts(), ...openBombs()];
