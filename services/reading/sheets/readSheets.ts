import { read, type DenseWorkSheet, type WorkBook } from "@e965/xlsx";
import { checkZip } from "../guard/zip.ts";
import { UnreadableFile } from "../reader.ts";
import { blockOf } from "./sheet.ts";
import { sheetMarkdown } from "./toMarkdown.ts";

/** `Workbook.Sheets[].Hidden`: hidden so that only a program can show it. */
const VERY_HIDDEN = 2;

const isZip = (bytes: Uint8Array): boolean => bytes[0] === 0x50 && bytes[1] === 0x4b;

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

/** XLSX, XLS and ODS: every sheet under its name. Throws UnreadableFile: damaged, protected, too large. */
export const readSheets = async (bytes: Uint8Array): Promise<string[]> => {
  if (isZip(bytes)) checkZip(bytes);
  const book = open(bytes);
  const date1904 = book.Workbook?.WBProps?.date1904 ?? false;
  const sheets = book.SheetNames.map((name, at) => {
    const hidden = book.Workbook?.Sheets?.[at]?.Hidden === VERY_HIDDEN;
    const sheet = book.Sheets[name] as DenseWorkSheet | undefined;
    return hidden || !sheet?.["!data"] ? "" : sheetMarkdown(name, blockOf(sheet, date1904));
  });
  return [sheets.filter(Boolean).join("\n\n")];
};
