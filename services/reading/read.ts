import { hasPages, types, usualType, type ReadableType } from "#events/mediaTypes.ts";
import { cutPassages } from "./passages.ts";
import { UnreadableFile, type FileToRead, type Reading } from "./reader.ts";

/** The Markdown of a file, page by page; one page where the type has none. */
type ReadPages = (bytes: Uint8Array) => Promise<string[]>;

const MAX_BYTES = 50_000_000;
/** Stands between two pages. */
const JOINT = "\n\n";

const startsAsHtml = (bytes: Uint8Array): boolean =>
  /<html[\s>]/i.test(Buffer.from(bytes.subarray(0, 2_000)).toString("latin1"));

/* Imported when first needed: a process loads only the libraries of the types it meets. */
const readers: Record<ReadableType, ReadPages> = {
  [types.pdf]: async (bytes) => (await import("./pdf/readPdf.ts")).readPdf(bytes),
  [types.docx]: async (bytes) => (await import("./office/docx.ts")).readDocx(bytes),
  [types.doc]: async (bytes) => (await import("./office/doc.ts")).readDoc(bytes),
  [types.odt]: async (bytes) => (await import("./office/odt.ts")).readOdt(bytes),
  [types.rtf]: async (bytes) => (await import("./office/rtf.ts")).readRtf(bytes),
  [types.epub]: async (bytes) => (await import("./office/epub.ts")).readEpub(bytes),
  [types.eml]: async (bytes) => (await import("./office/eml.ts")).readEml(bytes),
  [types.html]: async (bytes) => (await import("./html/readHtml.ts")).readHtml(bytes),
  [types.pptx]: async (bytes) => (await import("./slides/pptx.ts")).readPptx(bytes),
  [types.odp]: async (bytes) => (await import("./slides/odp.ts")).readOdp(bytes),
  [types.xlsx]: async (bytes) => (await import("./sheets/readSheets.ts")).readExcel(bytes),
  [types.xls]: async (bytes) => (await import("./sheets/readSheets.ts")).readExcel(bytes),
  [types.ods]: async (bytes) => (await import("./sheets/readSheets.ts")).readOds(bytes),
  [types.csv]: async (bytes) => (await import("./sheets/csv.ts")).readCsv(bytes),
  [types.tsv]: async (bytes) => (await import("./sheets/csv.ts")).readTsv(bytes),
  [types.md]: async (bytes) => (await import("./text/markdown.ts")).readMarkdown(bytes),
  [types.txt]: async (bytes) => (await import("./text/plain.ts")).readPlain(bytes),
  [types.json]: async (bytes) => (await import("./text/json.ts")).readJson(bytes),
  [types.xml]: async (bytes) =>
    startsAsHtml(bytes) ? readers[types.html](bytes) : (await import("./text/xml.ts")).readXml(bytes),
};

const readerOf = (type: string): ReadPages => {
  if (!Object.hasOwn(readers, type)) throw new UnreadableFile("There is no reader for this type of file.");
  return readers[type as ReadableType];
};

/** Stores take neither NUL nor half a character; blank lines around a page say nothing. */
const tidy = (page: string): string =>
  page
    .replaceAll("\0", "")
    .toWellFormed()
    .replace(/^(?:[ \t]*\n)+/, "")
    .trimEnd();

const lengthsOf = (pages: string[]): number[] =>
  pages.map((page, at) => page.length + (at < pages.length - 1 ? JOINT.length : 0));

/**
 * Reads a file into Markdown, pages joined with a blank line, and cuts it into passages. Throws UnreadableFile: no
 * reader for the type, what its reader says, no text in it, more than 50 MB of text.
 */
export const readFile = async ({ bytes, mime_type }: FileToRead): Promise<Reading> => {
  const type = usualType(mime_type);
  const pages = (await readerOf(type)(bytes)).map(tidy);
  const markdown = pages.join(JOINT);
  if (markdown.trim() === "") throw new UnreadableFile("There is no text in the file.");
  if (Buffer.byteLength(markdown) > MAX_BYTES) throw new UnreadableFile("The file contains more than 50 MB of text.");
  const lengths = hasPages(type) ? lengthsOf(pages) : null;
  return { markdown, page_count: lengths && pages.length, pages: lengths, passages: cutPassages(markdown, lengths) };
};
