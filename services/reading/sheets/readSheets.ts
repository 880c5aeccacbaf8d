import { read, type DenseWorkSheet, type WorkBook } from "@e965/xlsx";
import { strToU8, zipSync } from "fflate";
import { openDocument } from "../guard/openDocument.ts";
import { checkZip, openZip, type Zip } from "../guard/zip.ts";
import { UnreadableFile, type Warn } from "../reader.ts";
import { countUnreadHeaders, ignoreWarnings, warnOfCount } from "../warnings.ts";
import { isOle } from "../office/xmlParts.ts";
import { libraryComments, openComments } from "./comments.ts";
import { inputMessages } from "./inputMessages.ts";
import { openDrawings } from "./drawings.ts";
import { withoutDrawings } from "./odsCells.ts";
import { openOdsInputMessages } from "./odsInputMessages.ts";
import { openOdsDrawings } from "./odsDrawings.ts";
import { excelHeaders, openDocumentHeaders } from "./pageHeaders.ts";
import { readCells } from "./readCells.ts";
import { bracketOdsReadings, cellsWithReadings, type SpokenCells } from "./readings.ts";
import { sheetParts, withSheetName } from "./toMarkdown.ts";
import { openWorkbookParts } from "./workbookParts.ts";
import { openXlsDrawings } from "./xlsDrawings.ts";

/** `Workbook.Sheets[].Hidden`: only a program can show the sheet. */
const VERY_HIDDEN = 2;

const open = (bytes: Uint8Array, { formulas = false } = {}): WorkBook => {
  try {
    return read(bytes, { type: "array", dense: true, cellNF: true, cellFormula: formulas, cellHTML: false });
  } catch (cause) {
    if (cause instanceof Error && /password|encrypt/i.test(cause.message)) {
      throw new UnreadableFile("The file is protected by a password.", { cause });
    }
    throw new UnreadableFile("The file is damaged, or no spreadsheet.", { cause });
  }
};

const isVisible = (book: WorkBook, index: number): boolean => book.Workbook?.Sheets?.[index]?.Hidden !== VERY_HIDDEN;

/** Pictures of XLSX and ODS. */
const PICTURE = /^(?:xl\/media|Pictures)\/[^/]+$/;

/** Files of other programs in XLSX. */
const EMBEDDED = /^xl\/embeddings\/[^/]+$/;

const countParts = (zip: Zip, pattern: RegExp, without: ReadonlySet<string> = new Set()): number =>
  zip.names().filter((name) => pattern.test(name) && !without.has(name)).length;

const SHEET = /^xl\/worksheets\/[^/]+\.xml$/;
/** A cell with a formula and no value, as programs write it that do not compute. */
const BARE_FORMULA = /<c\b([^<>]*)>\s*<f\b[^<>]*(?:\/>|>[^<]*<\/f>)\s*(?:<v\s*\/>|<v>\s*<\/v>)?\s*<\/c>/g;

/** Texts in the XML of a sheet that are not in its cells. */
interface SheetXml {
  /** Formulas without a value (an empty text is one). */
  bare: number;
  /** Whether some formulas make links. */
  hasLinks: boolean;
  /** The input messages of each part. */
  messages: ReadonlyMap<string, string>;
  /** The cells of each part that show phonetic readings. */
  spoken: ReadonlyMap<string, SpokenCells>;
}

const readSheetXml = (zip: Zip): SheetXml => {
  let [bare, hasLinks] = [0, false];
  const messages = new Map<string, string>();
  const spoken = new Map<string, SpokenCells>();
  for (const name of zip.names().filter((one) => SHEET.test(one))) {
    const xml = zip.text(name) ?? "";
    hasLinks ||= xml.includes("HYPERLINK(");
    messages.set(name, inputMessages(xml));
    spoken.set(name, cellsWithReadings(xml));
    for (const [, attributes = ""] of xml.matchAll(BARE_FORMULA)) if (!attributes.includes('t="str"')) bare += 1;
  }
  return { bare, hasLinks, messages, spoken };
};

/** What sheets have beside their cells. */
interface Surroundings {
  drawnOn(sheet: string): string;
  /** For formats whose comments the library does not read. */
  commentsOn?(sheet: string): string;
  /** Messages that programs show beside a selected cell. */
  messagesOn?(sheet: string): string;
  /** The cells that show phonetic readings, which the library does not read. */
  spokenOn?(sheet: string): SpokenCells | undefined;
  /** Headers and footers. */
  headers: readonly string[];
}

/** Every visible sheet under its name, with what is drawn on it and the comments on its cells. */
const toMarkdown = (
  book: WorkBook,
  { drawnOn, commentsOn, messagesOn, spokenOn, headers }: Surroundings,
  warn: Warn,
): string[] => {
  const date1904 = book.Workbook?.WBProps?.date1904 ?? false;
  const visible = book.SheetNames.filter((_, index) => isVisible(book, index));
  const sheets = visible.map((name) => {
    const sheet = book.Sheets[name] as DenseWorkSheet | undefined;
    const cells = sheet?.["!data"] ? readCells(sheet, date1904, spokenOn?.(name)) : [];
    const comments = commentsOn?.(name) ?? libraryComments(sheet);
    return withSheetName(name, [...sheetParts(cells), drawnOn(name), comments, messagesOn?.(name) ?? ""]);
  });
  warnOfCount(warn, "hidden_sheets", book.SheetNames.length - visible.length);
  const text = sheets.filter(Boolean).join("\n\n");
  warnOfCount(
    warn,
    "headers_and_footers_left_out",
    countUnreadHeaders(headers, () => text),
  );
  return [text];
};

/** A single sheet without a container, as Excel wrote it before 1995. */
const NO_SURROUNDINGS: Surroundings = { drawnOn: () => "", headers: [] };

const isZip = (bytes: Uint8Array): boolean => bytes[0] === 0x50 && bytes[1] === 0x4b;

/** Reads XLSX and XLS, every sheet under its name. Throws UnreadableFile: damaged, protected, too large. */
export const readExcel = async (bytes: Uint8Array, warn: Warn = ignoreWarnings): Promise<string[]> => {
  if (!isZip(bytes)) {
    const book = open(bytes);
    return toMarkdown(book, isOle(bytes) ? openXlsDrawings(bytes, warn) : NO_SURROUNDINGS, warn);
  }
  checkZip(bytes);
  const zip = openZip(bytes);
  warnOfCount(warn, "embedded_files_left_out", countParts(zip, EMBEDDED));
  const { bare, hasLinks, messages, spoken } = readSheetXml(zip);
  warnOfCount(warn, "formulas_without_values", bare);
  const parts = openWorkbookParts(zip);
  const described = new Set<string>();
  const surroundings = {
    drawnOn: openDrawings(zip, parts, { warn, described }),
    commentsOn: openComments(parts),
    messagesOn: (sheet: string) => messages.get(parts.sheetPart(sheet) ?? "") ?? "",
    spokenOn: (sheet: string) => spoken.get(parts.sheetPart(sheet) ?? ""),
    headers: excelHeaders(zip),
  };
  const text = toMarkdown(open(bytes, { formulas: hasLinks }), surroundings, warn);
  warnOfCount(warn, "images_without_text", countParts(zip, PICTURE, described));
  return text;
};

const EMPTY_STYLES = "<office:document-styles/>";

/**
 * The file as the library reads it: with this content, without the parts that it does not read, and with styles. A file without styles.xml
 * is legal (ODF 1.3, part 2), but the library insists on one.
 */
const libraryFile = (zip: Zip, content: string): Uint8Array => {
  const part = (name: string) => {
    const bytes = zip.bytes(name);
    return bytes ? { [name]: bytes } : {};
  };
  const parts = ["mimetype", "META-INF/manifest.xml", "meta.xml", "styles.xml"].map(part);
  const written = { "styles.xml": strToU8(EMPTY_STYLES), "content.xml": strToU8(content) };
  return zipSync(Object.assign(written, ...parts), { level: 0 });
};

/** Reads ODS, every sheet under its name. Throws UnreadableFile: damaged, protected, too large. */
export const readOds = async (bytes: Uint8Array, warn: Warn = ignoreWarnings): Promise<string[]> => {
  const zip = openDocument(bytes);
  checkZip(bytes);
  const original = zip.text("content.xml") ?? "";
  const content = bracketOdsReadings(original);
  const cells = withoutDrawings(content);
  const isReadable = cells === original && zip.names().includes("styles.xml");
  const book = open(isReadable ? bytes : libraryFile(zip, cells));
  const described = new Set<string>();
  const surroundings = {
    drawnOn: openOdsDrawings(zip, content, { warn, described }),
    messagesOn: openOdsInputMessages(content),
    headers: openDocumentHeaders(zip),
  };
  const text = toMarkdown(book, surroundings, warn);
  warnOfCount(warn, "images_without_text", countParts(zip, PICTURE, described));
  return text;
};
