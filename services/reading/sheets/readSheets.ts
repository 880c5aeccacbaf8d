import { read, type DenseWorkSheet, type WorkBook } from "@e965/xlsx";
import { openDocument } from "../guard/openDocument.ts";
import { checkZip } from "../guard/zip.ts";
import { UnreadableFile } from "../reader.ts";
import { openCharts } from "./charts.ts";
import { blockOf } from "./sheet.ts";
import { sheetMarkdown, underName } from "./toMarkdown.ts";

/** `Workbook.Sheets[].Hidden`: hidden so that only a program can show it. */
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

const none = (): string => "";

/** A chart repeats cells, as a rule; it is read where its sheet has none. */
const markdownOf = (bytes: Uint8Array, chartsOf: (sheet: string) => string): string[] => {
  const book = open(bytes);
  const date1904 = book.Workbook?.WBProps?.date1904 ?? false;
  const sheets = book.SheetNames.filter((_, index) => isVisible(book, index)).map((name) => {
    const sheet = book.Sheets[name] as DenseWorkSheet | undefined;
    const cells = sheet?.["!data"] ? blockOf(sheet, date1904) : [];
    return cells.length > 0 ? sheetMarkdown(name, cells) : underName(name, [chartsOf(name)]);
  });
  return [sheets.filter(Boolean).join("\n\n")];
};

const isZip = (bytes: Uint8Array): boolean => bytes[0] === 0x50 && bytes[1] === 0x4b;

/** XLSX and XLS: every sheet under its name. Throws UnreadableFile: damaged, protected, too large. */
export const readExcel = async (bytes: Uint8Array): Promise<string[]> => {
  if (!isZip(bytes)) return markdownOf(bytes, none);
  checkZip(bytes);
  return markdownOf(bytes, openCharts(bytes));
};

/** ODS: every sheet under its name. Throws UnreadableFile: damaged, protected, too large. */
export const readOds = async (bytes: Uint8Array): Promise<string[]> => {
  openDocument(bytes);
  checkZip(bytes);
  return markdownOf(bytes, none);
};
