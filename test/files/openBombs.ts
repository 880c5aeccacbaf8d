import { crc32, deflateSync } from "node:zlib";
import { either, failed, hostile, type Hostile } from "./hostile.ts";
import { realFile } from "./index.ts";
import { zipOf } from "./zip.ts";

/* Hostile OpenDocument files, books, sheets and pictures. */

const NAMESPACES = ["office", "table", "text"]
  .map((name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`)
  .join(" ");
/** An OpenDocument file of a kind ("text"), with this body and these declarations of entities. */
const openDocument = (kind: string, body: string, declared = ""): Buffer<ArrayBuffer> =>
  zipOf([
    { name: "mimetype", content: `application/vnd.oasis.opendocument.${kind}` },
    {
      name: "content.xml",
      content: `<?xml version="1.0"?>${declared}<office:document-content ${NAMESPACES}><office:body>${body}</office:body></office:document-content>`,
    },
  ]);
const laughs = `<!DOCTYPE a [<!ENTITY a0 "ha">${Array.from({ length: 30 }, (_, n) => `<!ENTITY a${n + 1} "&a${n};&a${n};">`).join("")}]>`;
const deep = (tag: string, depth: number): string => `<${tag}>`.repeat(depth) + "bottom" + `</${tag}>`.repeat(depth);
const row = (columns: number, rows: number): string =>
  `<table:table-row table:number-rows-repeated="${rows}"><table:table-cell table:number-columns-repeated="${columns}"><text:p>x</text:p></table:table-cell></table:table-row>`;

const officeFiles = (): Hostile[] => [
  hostile(
    "a billion laughs in an OpenDocument text",
    "laughs.odt",
    failed,
    openDocument("text", "<office:text><text:p>&a30;</text:p></office:text>", laughs),
  ),
  hostile(
    "100,000 nested sections in an OpenDocument text",
    "deep.odt",
    either,
    openDocument("text", `<office:text>${deep("text:section", 100_000)}</office:text>`),
  ),
  hostile("half an OpenDocument text", "half.odt", failed, realFile("guide.odt").subarray(0, 3_000)),
  hostile(
    "a cell that is repeated a billion times in each of a billion rows",
    "full.ods",
    either,
    openDocument(
      "spreadsheet",
      `<office:spreadsheet><table:table table:name="Sheet">${row(1_000_000_000, 1_000_000_000)}</table:table></office:spreadsheet>`,
    ),
  ),
  hostile("half an OpenDocument presentation", "half.odp", failed, realFile("deck.odp").subarray(0, 3_000)),
  hostile("half an Excel 97 workbook", "half.xls", either, realFile("stock.xls").subarray(0, 3_000)),
  hostile("half a book", "half.epub", failed, realFile("guide.epub").subarray(0, 3_000)),
  hostile(
    "a book whose only chapter is outside of it",
    "outside.epub",
    failed,
    zipOf([
      { name: "mimetype", content: "application/epub+zip" },
      {
        name: "META-INF/container.xml",
        content: '<container><rootfiles><rootfile full-path="../../../../etc/passwd"/></rootfiles></container>',
      },
    ]),
  ),
  hostile("a row of 200,000 cells with tabs", "wide.tsv", either, `${"a\t".repeat(200_000)}b\n1\n`),
];

const chunk = (type: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
};

/** A PNG that declares this many pixels in each direction, and has one row. */
function hugePng(side: number): Buffer<ArrayBuffer> {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(Buffer.alloc(3 * side + 1))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** A GIF that declares the largest image, and ends where its pixels would begin. */
const hugeGif = (): Buffer<ArrayBuffer> => Buffer.from("474946383961ffffffff0000002c00000000ffffffff0008003b", "hex");

/** A TIFF whose only page names itself as the next one. */
const endlessTiff = (): Buffer<ArrayBuffer> => {
  const bytes = Buffer.alloc(14);
  bytes.write("II*\0", "latin1");
  bytes.writeUInt32LE(8, 4);
  bytes.writeUInt32LE(8, 10);
  return bytes;
};

const pictures = (): Hostile[] => [
  hostile("a PNG of 60,000 by 60,000 pixels", "huge.png", failed, hugePng(60_000)),
  hostile("half a PNG", "half.png", either, realFile("notice.png").subarray(0, 3_000)),
  hostile("half a JPEG", "half.jpg", either, realFile("notice.jpg").subarray(0, 3_000)),
  hostile("a TIFF without an end", "loop.tiff", failed, endlessTiff()),
  hostile("half a TIFF", "half.tiff", either, realFile("notice.tiff").subarray(0, 3_000)),
  hostile("a GIF of 65,535 by 65,535 pixels without data", "huge.gif", failed, hugeGif()),
  hostile("half a GIF", "half.gif", either, realFile("notice.gif").subarray(0, 3_000)),
  hostile("half a HEIC", "half.heic", either, realFile("notice.heic").subarray(0, 3_000)),
  hostile("half a WebP", "half.webp", either, realFile("notice.webp").subarray(0, 3_000)),
];

export const openBombs = (): Hostile[] => [...officeFiles(), ...pictures()];
