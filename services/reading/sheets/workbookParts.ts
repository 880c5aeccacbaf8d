import type { Zip } from "../guard/zip.ts";
import { childrenNamed, findPath, reference } from "../slides/localNames.ts";
import { openParts, type Parts } from "../slides/parts.ts";

export interface WorkbookParts extends Parts {
  /** The name of the workbook's part. */
  workbook: string;
  /** The part of a sheet, by the sheet's name; undefined without one. */
  sheetPart(name: string): string | undefined;
}

/** Opens the parts of an XLSX and their relationships. */
export const openWorkbookParts = (zip: Zip): WorkbookParts => {
  const parts = openParts(zip);
  const workbook = parts.related("", "officeDocument") ?? "xl/workbook.xml";
  const relations = parts.relations(workbook);
  const listed = childrenNamed(findPath(parts.xml(workbook), "sheets"), "sheet");
  const byName = new Map(listed.map((sheet) => [sheet.attributes["name"] ?? "", reference(sheet, "id")]));
  return { ...parts, workbook, sheetPart: (name) => relations.get(byName.get(name) ?? "")?.target };
};
