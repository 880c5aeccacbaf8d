import { read, type DenseWorkSheet, type WorkBook } from "@e965/xlsx";
import { strToU8, zipSync } from "fflate";
import { openDocument } from "../guard/openDocument.ts";
import { checkZip, openZip, type Zip } from "../guard/zip.ts";
import { UnreadableFile, type Warn } from "../reader.ts";
import { ignoreWarnings, warnOfCount } from "../warnings.ts";
import { openCharts } from "./charts.ts";
import { readCells } from "./readCells.ts";
import { sheetMarkdown, withSheetName } from "./toMarkdown.ts";

/** `Workbook.Sheets[].Hidden`: only a program can show the sheet. */
const VERY_HIDDEN = 2;

const open = (bytes: Uint8Array): WorkBook => {
  try {
    return read(bytes, { type: "array", dense: true, cellNF: true, cellFormula: false, cellHTML: false });
  } catch (cause) {
    if (cause instanceof Error && /password|encrypt/i.test(cause.message)) {
      throw new UnreadableFile("The file is protected by a password.", { cause });
    }
    throw new UnreadableFile("The file is damaged, or no spreadsheet.", { cause });
  }
};

const isVisible = (book: WorkBook, index: number): boolean => book.Workbook?.Sheets?.[index]?.Hidden !== VERY_HIDDEN;

/** Cells with comments. */
const countComments = (sheet: DenseWorkSheet | undefined): number => {
  let count = 0;
  sheet?.["!data"]?.forEach((cells) => cells?.forEach((cell) => void (count += cell?.c?.length ? 1 : 0)));
  return count;
};

const PICTURE = /^xl\/media\/[^/]+$/;

const noCharts = (): string => "";

/** Every visible sheet under its name. Charts usually repeat cells, so they are read only on sheets without cells. */
const toMarkdown = (bytes: Uint8Array, chartsOf: (sheet: string) => string, warn: Warn): string[] => {
  const book = open(bytes);
  const date1904 = book.Workbook?.WBProps?.date1904 ?? false;
  const visible = book.SheetNames.filter((_, index) => isVisible(book, index));
  let comments = 0;
  const sheets = visible.map((name) => {
    const sheet = book.Sheets[name] as DenseWorkSheet | undefined;
    comments += countComments(sheet);
    const cells = sheet?.["!data"] ? readCells(sheet, date1904) : [];
    return cells.length > 0 ? sheetMarkdown(name, cells) : withSheetName(name, [chartsOf(name)]);
  });
  warnOfCount(warn, "hidden_sheets", book.SheetNames.length - visible.length);
  warnOfCount(warn, "comments_left_out", comments);
  return [sheets.filter(Boolean).join("\n\n")];
};

const isZip = (bytes: Uint8Array): boolean => bytes[0] === 0x50 && bytes[1] === 0x4b;

/** Reads XLSX and XLS, every sheet under its name. Throws UnreadableFile: damaged, protected, too large. */
export const readExcel = async (bytes: Uint8Array, warn: Warn = ignoreWarnings): Promise<string[]> => {
  if (!isZip(bytes)) return toMarkdown(bytes, noCharts, warn);
  checkZip(bytes);
  const pictures = openZip(bytes)
    .names()
    .filter((name) => PICTURE.test(name));
  warnOfCount(warn, "images_without_text", pictures.length);
  return toMarkdown(bytes, openCharts(bytes), warn);
};

const EMPTY_STYLES = "<office:document-styles/>";

/** A file without styles.xml is legal (ODF 1.3, part 2), but the library insists on one. Parts that it does not read are left out. */
const withStyles = (zip: Zip): Uint8Array => {
  const part = (name: string) => {
    const bytes = zip.bytes(name);
    return bytes ? { [name]: bytes } : {};
  };
  const parts = ["mimetype", "META-INF/manifest.xml", "meta.xml", "content.xml"].map(part);
  return zipSync(Object.assign({ "styles.xml": strToU8(EMPTY_STYLES) }, ...parts), { level: 0 });
};

/** Reads ODS, every sheet under its name. Throws UnreadableFile: damaged, protected, too large. */
export const readOds = async (bytes: Uint8Array, warn: Warn = ignoreWarnings): Promise<string[]> => {
  const zip = openDocument(bytes);
  checkZip(bytes);
  return toMarkdown(zip.names().includes("styles.xml") ? bytes : withStyles(zip), noCharts, warn);
};
