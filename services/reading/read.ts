import { hasPages, MEDIA_TYPES, canonicalType, type PictureType, type ReadableType } from "#events/mediaTypes.ts";
import type { ReadingWarning, WarningCode } from "#events/readingWarnings.ts";
import { cutPassages } from "./passages.ts";
import type { RecognitionOptions, Recognizer } from "./pictures/recognizer.ts";
import { joinCounts, reasonForNoText } from "./warnings.ts";
import {
  UnreadableFile,
  type FileToRead,
  type OnProgress,
  type Pagination,
  type Reading,
  type Warn,
} from "./reader.ts";

/** Reads a file into one Markdown text per page, or a single one if its type has no pages. */
type ReadPages = (bytes: Uint8Array, warn: Warn, recognition?: RecognitionOptions) => Promise<string[]>;

/** Reads a picture. Imported on first use, as all readers are. */
const pictureReader =
  (type: PictureType): ReadPages =>
  async (bytes, warn, recognition) =>
    (await import("./pictures/readPicture.ts")).readPicture(type, bytes, { warn, recognition });

const MAX_BYTES = 50_000_000;
const PAGE_SEPARATOR = "\n\n";

const startsAsHtml = (bytes: Uint8Array): boolean =>
  /<html[\s>]/i.test(Buffer.from(bytes.subarray(0, 2_000)).toString("latin1").replaceAll("\0", ""));

/* Imported on first use, so that a process loads only the libraries it needs. */
const readers: Record<ReadableType, ReadPages> = {
  [MEDIA_TYPES.pdf]: async (bytes, warn, recognition) =>
    (await import("./pdf/readPdf.ts")).readPdf(bytes, warn, recognition),
  [MEDIA_TYPES.docx]: async (bytes, warn) => (await import("./office/docx.ts")).readDocx(bytes, warn),
  [MEDIA_TYPES.doc]: async (bytes, warn) => (await import("./office/doc.ts")).readDoc(bytes, warn),
  [MEDIA_TYPES.odt]: async (bytes, warn) => (await import("./office/odt.ts")).readOdt(bytes, warn),
  [MEDIA_TYPES.rtf]: async (bytes, warn) => (await import("./office/rtf.ts")).readRtf(bytes, warn),
  [MEDIA_TYPES.epub]: async (bytes, warn) => (await import("./office/epub.ts")).readEpub(bytes, warn),
  [MEDIA_TYPES.eml]: async (bytes, warn) => (await import("./office/eml.ts")).readEml(bytes, warn),
  [MEDIA_TYPES.msg]: async (bytes, warn) => (await import("./office/msg.ts")).readMsg(bytes, warn),
  [MEDIA_TYPES.html]: async (bytes, warn) => (await import("./html/readHtml.ts")).readHtml(bytes, warn),
  [MEDIA_TYPES.pptx]: async (bytes, warn) => (await import("./slides/pptx.ts")).readPptx(bytes, warn),
  [MEDIA_TYPES.odp]: async (bytes, warn) => (await import("./slides/odp.ts")).readOdp(bytes, warn),
  [MEDIA_TYPES.xlsx]: async (bytes, warn) => (await import("./sheets/readSheets.ts")).readExcel(bytes, warn),
  [MEDIA_TYPES.xls]: async (bytes, warn) => (await import("./sheets/readSheets.ts")).readExcel(bytes, warn),
  [MEDIA_TYPES.ods]: async (bytes, warn) => (await import("./sheets/readSheets.ts")).readOds(bytes, warn),
  [MEDIA_TYPES.csv]: async (bytes) => (await import("./sheets/csv.ts")).readCsv(bytes),
  [MEDIA_TYPES.tsv]: async (bytes) => (await import("./sheets/csv.ts")).readTsv(bytes),
  [MEDIA_TYPES.md]: async (bytes, warn) => (await import("./text/markdown.ts")).readMarkdown(bytes, warn),
  [MEDIA_TYPES.txt]: async (bytes) => (await import("./text/plain.ts")).readPlain(bytes),
  [MEDIA_TYPES.json]: async (bytes) => (await import("./text/json.ts")).readJson(bytes),
  [MEDIA_TYPES.xml]: async (bytes, warn) =>
    startsAsHtml(bytes) ? readers[MEDIA_TYPES.html](bytes, warn) : (await import("./text/xml.ts")).readXml(bytes),
  [MEDIA_TYPES.png]: pictureReader(MEDIA_TYPES.png),
  [MEDIA_TYPES.jpg]: pictureReader(MEDIA_TYPES.jpg),
  [MEDIA_TYPES.tiff]: pictureReader(MEDIA_TYPES.tiff),
  [MEDIA_TYPES.webp]: pictureReader(MEDIA_TYPES.webp),
  [MEDIA_TYPES.gif]: pictureReader(MEDIA_TYPES.gif),
  [MEDIA_TYPES.heic]: pictureReader(MEDIA_TYPES.heic),
};

const findReader = (type: string): ReadPages => {
  if (!Object.hasOwn(readers, type)) throw new UnreadableFile("There is no reader for this type of file.");
  return readers[type as ReadableType];
};

/** Removes blank lines around a page, and NUL and lone surrogates, which the stores refuse. */
const cleanPage = (page: string): string =>
  page
    .replaceAll("\0", "")
    .toWellFormed()
    .replace(/^(?:[ \t]*\n)+/, "")
    .trimEnd();

const SLIDES = new Set<string>([MEDIA_TYPES.pptx, MEDIA_TYPES.odp]);

const pageLengths = (pages: string[]): number[] =>
  pages.map((page, at) => page.length + (at < pages.length - 1 ? PAGE_SEPARATOR.length : 0));

/** The marks of images in a PDF, as programs write them. */
const IMAGE_MARKS = ["/Subtype/Image", "/Subtype /Image"];

/** Counts the pages of a PDF on which text recognition may find text: those without text if the file has images, and those with pictures. */
const countScanned = (type: string, bytes: Buffer, warnings: readonly ReadingWarning[]): number => {
  if (type !== MEDIA_TYPES.pdf) return 0;
  const count = (wanted: WarningCode): number => warnings.find(({ code }) => code === wanted)?.pages?.length ?? 0;
  const blank = count("page_without_text");
  const hasImages = blank > 0 && IMAGE_MARKS.some((mark) => bytes.includes(mark));
  return (hasImages ? blank : 0) + count("images_without_text");
};

/** Counts the pictures that are recognized, with or without success. */
const countCalls = (recognizer: Recognizer): { recognizer: Recognizer; calls: () => number } => {
  let calls = 0;
  const recognize: Recognizer["recognize"] = (picture) => {
    calls++;
    return recognizer.recognize(picture);
  };
  return { recognizer: { recognize }, calls: () => calls };
};

/**
 * Reads a file into Markdown, with pages joined by a blank line, and cuts it into passages. Uses `recognizer` on at most
 * `recognize` pages. Throws UnreadableFile: no reader for the type, no text, more than 50 MB of text, or the reader's own reason.
 */
export const readFile = async (
  { bytes, mime_type, recognize }: FileToRead,
  recognizer?: Recognizer,
  onProgress?: OnProgress,
): Promise<Reading> => {
  const type = canonicalType(mime_type);
  const warnings: ReadingWarning[] = [];
  const counted = recognizer && countCalls(recognizer);
  const recognition =
    counted && recognize !== undefined ? { recognizer: counted.recognizer, pages: recognize, onProgress } : undefined;
  const read = await findReader(type)(bytes, (warning) => warnings.push(warning), recognition);
  const pages = read.map(cleanPage);
  const markdown = pages.join(PAGE_SEPARATOR);
  if (markdown.trim() === "") throw new UnreadableFile(reasonForNoText(warnings));
  if (Buffer.byteLength(markdown) > MAX_BYTES) throw new UnreadableFile("The file contains more than 50 MB of text.");
  const slides = SLIDES.has(type);
  const isPaged = hasPages(type);
  const paging: Pagination = {
    page_count: isPaged ? pages.length : null,
    pages: isPaged || slides ? pageLengths(pages) : null,
    ...(slides && { slides }),
  };
  const passages = cutPassages(markdown, paging);
  const scanned = recognition ? 0 : countScanned(type, bytes, warnings);
  const recognized = counted?.calls() ?? 0;
  return {
    markdown,
    ...paging,
    passages,
    warnings: joinCounts(warnings),
    ...(scanned > 0 && { scanned }),
    ...(recognized > 0 && { recognized }),
  };
};
