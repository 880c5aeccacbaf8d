import type { Element as Html, ElementContent } from "hast";
import { type Element, elementsOf } from "../guard/xml.ts";
import { element } from "../html/tree.ts";

const GROUPS = /^table:table-(?:header-rows|rows|row-group)$/;
/** Repetitions fill a sheet to its edge; in a text they are few. */
const MAX_REPEATED = 64;

const repeated = (node: Element, name: string): number =>
  Math.min(Math.max(Number(node.attributes[name]) || 1, 1), MAX_REPEATED);

const rowsOf = (table: Element): Element[] =>
  elementsOf(table).flatMap((child) => {
    if (child.name === "table:table-row") return [child];
    return GROUPS.test(child.name) ? rowsOf(child) : [];
  });

const cellOf = (cell: Element, content: (cell: Element) => ElementContent[]): Html =>
  element("td", content(cell), {
    colSpan: repeated(cell, "table:number-columns-spanned"),
    rowSpan: Number(cell.attributes["table:number-rows-spanned"]) || 1,
  });

/** A table of OpenDocument as HTML's: cells that another covers are left out, as they are there. */
export const odtTable = (table: Element, content: (cell: Element) => ElementContent[]): Html => {
  const header = elementsOf(table).find(({ name }) => name === "table:table-header-rows");
  const heads = new Set(header ? rowsOf(header) : []);
  const rowOf = (row: Element): Html[] => {
    const cells = elementsOf(row).filter(({ name }) => name === "table:table-cell");
    const html = element(
      "tr",
      cells.flatMap((cell) => {
        const times = repeated(cell, "table:number-columns-repeated");
        return Array.from({ length: times }, () => cellOf(cell, content));
      }),
    );
    return Array.from({ length: repeated(row, "table:number-rows-repeated") }, () => html);
  };
  const rows = rowsOf(table);
  return element("table", [
    element("thead", rows.filter((row) => heads.has(row)).flatMap(rowOf)),
    element("tbody", rows.filter((row) => !heads.has(row)).flatMap(rowOf)),
  ]);
};
