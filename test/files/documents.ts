import { zipOf, type Entry } from "./zip.ts";

/* Minimal files of each type around the caller's content. */

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
const OFFICE = "http://schemas.openxmlformats.org";
const relation = (id: string, kind: string, target: string) =>
  `<Relationship Id="${id}" Type="${OFFICE}/officeDocument/2006/relationships/${kind}" Target="${target}"/>`;
const relations = (...all: string[]) =>
  `${XML}<Relationships xmlns="${OFFICE}/package/2006/relationships">${all.join("")}</Relationships>`;
const types = (part: string, type: string) =>
  `${XML}<Types xmlns="${OFFICE}/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
  `<Default Extension="xml" ContentType="application/xml"/><Override PartName="/${part}" ContentType="${type}"/></Types>`;

/** The content of a `word/document.xml` with one paragraph. */
export const wordXml = (text: string, before = "") =>
  `${XML}${before}<w:document xmlns:w="${OFFICE}/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>${text}</w:t></w:r></w:p></w:body></w:document>`;

/** A Word file with this `word/document.xml` (the other fields of its entry may be false) and more entries. */
export const docxOf = (document: string | Omit<Entry, "name">, more: Entry[] = []) =>
  zipOf([
    {
      name: "[Content_Types].xml",
      content: types(
        "word/document.xml",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
      ),
    },
    { name: "_rels/.rels", content: relations(relation("rId1", "officeDocument", "word/document.xml")) },
    { name: "word/document.xml", ...(typeof document === "string" ? { content: document } : document) },
    ...more,
  ]);

/** An Excel file with one sheet; `sheet` is the XML within `<worksheet>`. */
export const xlsxOf = (sheet: string, strings?: string) =>
  zipOf([
    {
      name: "[Content_Types].xml",
      content: types("xl/workbook.xml", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"),
    },
    { name: "_rels/.rels", content: relations(relation("rId1", "officeDocument", "xl/workbook.xml")) },
    {
      name: "xl/workbook.xml",
      content: `${XML}<workbook xmlns="${OFFICE}/spreadsheetml/2006/main" xmlns:r="${OFFICE}/officeDocument/2006/relationships"><sheets><sheet name="One" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    },
    {
      name: "xl/_rels/workbook.xml.rels",
      content: relations(
        relation("rId1", "worksheet", "worksheets/sheet1.xml"),
        ...(strings === undefined ? [] : [relation("rId2", "sharedStrings", "sharedStrings.xml")]),
      ),
    },
    {
      name: "xl/worksheets/sheet1.xml",
      content: `${XML}<worksheet xmlns="${OFFICE}/spreadsheetml/2006/main">${sheet}</worksheet>`,
    },
    ...(strings === undefined ? [] : [{ name: "xl/sharedStrings.xml", content: strings }]),
  ]);

/** A PDF of these objects, numbered from 1; the first one is the catalog. A stream is `[dictionary, bytes]`. */
export function pdfOf(objects: (string | [dictionary: string, bytes: Buffer])[]): Buffer<ArrayBuffer> {
  const parts: Buffer[] = [Buffer.from("%PDF-1.7\n")];
  const offsets: number[] = [];
  let at = parts[0]!.length;
  for (const [n, object] of objects.entries()) {
    const [text, bytes] = typeof object === "string" ? [object, undefined] : object;
    const body = bytes
      ? [
          Buffer.from(`${n + 1} 0 obj\n<< ${text} /Length ${bytes.length} >>\nstream\n`),
          bytes,
          Buffer.from("\nendstream\nendobj\n"),
        ]
      : [Buffer.from(`${n + 1} 0 obj\n${text}\nendobj\n`)];
    offsets.push(at);
    for (const part of body) at += part.length;
    parts.push(...body);
  }
  const rows = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const size = objects.length + 1;
  parts.push(
    Buffer.from(
      `xref\n0 ${size}\n0000000000 65535 f \n${rows}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${at}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(parts);
}

/** The objects of a PDF with one page and this content stream. */
export const onePage = (dictionary: string, content: Buffer): Parameters<typeof pdfOf>[0] => [
  "<< /Type /Catalog /Pages 2 0 R >>",
  "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
  "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
  [dictionary, content],
  "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
];
