import type { Element as Html, ElementContent } from "hast";
import { type Element, childElements } from "../guard/xml.ts";
import { element } from "../html/tree.ts";

const GROUPS = /^table:table-(?:header-rows|rows|row-group)$/;
/** Repetitions of a cell or row; spreadsheets fill a sheet to its edge with them. */
const MAX_REPEATED = 64;

const repeatCount = (node: Element, name: string): number =>
  Math.min(Math.max(Number(node.attributes[name]) || 1, 1), MAX_REPEATED);

const rowsOf = (table: Element): Element[] =>
  childElements(table).flatMap((child) => {
    if (child.name === "table:table-row") return [child];
    return GROUPS.test(child.name) ? rowsOf(child) : [];
  });

const toCell = (cell: Element, content: (cell: Element) => ElementContent[]): Html =>
  element("td", content(cell), {
    colSpan: repeatCount(cell, "table:number-columns-spanned"),
    rowSpan: Number(cell.attributes["table:number-rows-spanned"]) || 1,
  });

/** Converts a table to HTML. Covered cells are left out. */
export const odtTable = (table: Element, content: (cell: Element) => ElementContent[]): Html => {
  const header = childElements(table).find(({ name }) => name === "table:table-header-rows");
  const heads = new Set(header ? rowsOf(header) : []);
  const toRows = (row: Element): Html[] => {
    const cells = childElements(row).filter(({ name }) => name === "table:table-cell");
    const html = element(
      "tr",
      cells.flatMap((cell) => {
        const times = repeatCount(cell, "table:number-columns-repeated");
        return Array.from({ length: times }, () => toCell(cell, content));
      }),
    );
    return Array.from({ length: repeatCount(row, "table:number-rows-repeated") }, () => html);
  };
  const rows = rowsOf(table);
  return element("table", [
    element("thead", rows.filter((row) => heads.has(row)).flatMap(toRows)),
    element("tbody", rows.filter((row) => !heads.has(row)).flatMap(toRows)),
  ]);
};
