import { deflateSync } from "node:zlib";
import { docxOf, onePage, pdfOf } from "../../../test/files/documents.ts";
import { oneOf, randomFrom } from "../search/random.ts";

/* A long report of random words as PDF, Word file and web page. */

const WORDS =
  "the a of and in to with over under river bridge harbour field stone lamp winter summer council engineer gauge letter road valley measured opened closed repaired counted higher lower early late twelve forty".split(
    " ",
  );
const LINES = 40;
const WORDS_PER_LINE = 13;

/** Lines of text, the same for the same seed. */
export const randomLines = (seed: number, count: number): string[] => {
  const random = randomFrom(seed);
  return Array.from({ length: count }, () =>
    Array.from({ length: WORDS_PER_LINE }, () => oneOf(random, WORDS)).join(" "),
  );
};

const pageContent = (page: number): Buffer => {
  const lines = randomLines(page, LINES)
    .map((line) => `(${line}) Tj 0 -14 Td`)
    .join("\n");
  return Buffer.from(
    `BT /F1 18 Tf 50 740 Td (Part ${page} of the report) Tj ET\nBT /F1 10 Tf 50 700 Td\n${lines}\nET\nBT /F1 8 Tf 300 30 Td (${page}) Tj ET`,
  );
};

/** A PDF of this many pages; `picture` gives the gray pixels of a picture on each, 1,000 in a row. */
export const reportPdf = (pages: number, picture?: (page: number) => Buffer): Buffer => {
  const [catalog, , , , font] = onePage("", Buffer.alloc(0)) as string[];
  const objectsPerPage = picture ? 3 : 2;
  const firstObject = (n: number) => 4 + objectsPerPage * n;
  const numbers = Array.from({ length: pages }, (_, n) => n);
  const objects = numbers.flatMap((n): Parameters<typeof pdfOf>[0] => {
    const images = picture ? `/XObject << /P ${firstObject(n) + 2} 0 R >> ` : "";
    const resources = `<< ${images}/Font << /F1 3 0 R >> >>`;
    const page = `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents ${firstObject(n) + 1} 0 R /Resources ${resources} >>`;
    const content = picture
      ? Buffer.concat([pageContent(n + 1), Buffer.from("\nq 200 0 0 200 50 50 cm /P Do Q")])
      : pageContent(n + 1);
    const drawing: [string, Buffer] = ["/Filter /FlateDecode", deflateSync(content)];
    if (!picture) return [page, drawing];
    const pixels = picture(n);
    const image = `/Type /XObject /Subtype /Image /Width 1000 /Height ${pixels.length / 1_000} /ColorSpace /DeviceGray /BitsPerComponent 8`;
    return [page, drawing, [image, pixels]];
  });
  const kids = numbers.map((n) => `${firstObject(n)} 0 R`).join(" ");
  return pdfOf([catalog!, `<< /Type /Pages /Kids [${kids}] /Count ${pages} >>`, font!, ...objects]);
};

const paragraph = (text: string, style = "") =>
  `<w:p>${style && `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>`}<w:r><w:t>${text}</w:t></w:r></w:p>`;

/** A Word file of the same text. Its archive contains `pictures`, but no page shows them. */
export const reportDocx = (pages: number, pictures: Buffer[] = []): Buffer => {
  const body = Array.from({ length: pages }, (_, n) => [
    paragraph(`Part ${n + 1} of the report`, "Heading1"),
    ...randomLines(n + 1, LINES).map((line) => paragraph(line)),
  ]).flat();
  const xml = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${body.join("")}</w:body></w:document>`;
  const media = pictures.map((content, n) => ({ name: `word/media/image${n + 1}.png`, content }));
  return docxOf(xml, media);
};

/** A web page of the same text. */
export const reportHtml = (pages: number): Buffer =>
  Buffer.from(
    `<!doctype html><html><head><title>Report</title></head><body>${Array.from(
      { length: pages },
      (_, n) =>
        `<h1>Part ${n + 1} of the report</h1>${randomLines(n + 1, LINES)
          .map((line) => `<p>${line}</p>`)
          .join("")}`,
    ).join("")}</body></html>`,
  );
