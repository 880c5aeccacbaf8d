import type { Element } from "hast";
import type { Nodes, PhrasingContent, RootContent, TableRow } from "mdast";
import type { State } from "hast-util-to-mdast";
import { cellContent, plainText } from "./cellContent.ts";
import { bulletList } from "./signColumns.ts";
import { type Cell, toGrid, type Row } from "./tableGrid.ts";
import { findElements, isElement, property, textContent } from "./tree.ts";

const ROW_GROUPS = /^(?:thead|tbody|tfoot)$/;

/** The children of a table as browsers show them: the first head above the rows, the first foot below them. */
const shownParts = (table: Element): Element[] => {
  const parts = table.children.filter(isElement);
  const head = parts.find(({ tagName }) => tagName === "thead");
  const foot = parts.find(({ tagName }) => tagName === "tfoot");
  const others = parts.filter((part) => part !== head && part !== foot);
  return [...(head ? [head] : []), ...others, ...(foot ? [foot] : [])];
};

const rowElements = (table: Element): { row: Element; header: boolean }[] =>
  shownParts(table).flatMap((child) => {
    if (child.tagName === "tr") return [{ row: child, header: false }];
    if (!ROW_GROUPS.test(child.tagName)) return [];
    const rows = child.children.filter(isElement).filter(({ tagName }) => tagName === "tr");
    return rows.map((row) => ({ row, header: child.tagName === "thead" }));
  });

const cellElements = (row: Element): Element[] =>
  row.children.filter(isElement).filter(({ tagName }) => tagName === "td" || tagName === "th");

const readSpan = (cell: Element, name: string): number => {
  const span = Number.parseInt(property(cell, name), 10);
  return span > 1 ? Math.min(span, 1000) : 1;
};

const readRow = (state: State, row: Element, inHead: boolean): Row => {
  const cells = cellElements(row);
  return {
    header: inHead || (cells.length > 1 && cells.every(({ tagName }) => tagName === "th")),
    cells: cells.map(
      (cell): Cell => ({
        content: cellContent(state.all(cell) as Nodes[]),
        columns: readSpan(cell, "colSpan"),
        rows: readSpan(cell, "rowSpan"),
      }),
    ),
  };
};

const lengthOf = (node: Element): number => textContent(node).replace(/\s+/g, "").length;

const containsSection = (cell: Element): boolean =>
  findElements(cell, ({ tagName }) => /^h[1-6]$/.test(tagName)).some((heading) => lengthOf(heading) < lengthOf(cell));

/** Maximum characters of a label in a table with nested tables, and of such a cell; a longer one belongs to a layout table. */
const MAX_LABEL = 60;
const MAX_INNER = 1_000;

const innerTables = (cell: Element): Element[] => findElements(cell, ({ tagName }) => tagName === "table");

const isLabel = (cell: Element): boolean => {
  const length = lengthOf(cell);
  return length > 0 && length <= MAX_LABEL && innerTables(cell).length === 0;
};

/** Whether nested tables are values of this one: it has a row of labels, then a label in each row with values. */
const isLabelled = (rows: Element[]): boolean => {
  const [first = [], ...rest] = rows.map(cellElements);
  if (first.length < 2 || !first.every(isLabel)) return false;
  return rest.every((cells) => {
    const full = cells.filter((cell) => innerTables(cell).length > 0);
    const small = full.every(
      (cell) => lengthOf(cell) <= MAX_INNER && innerTables(cell).every((one) => innerTables(one).length === 0),
    );
    return full.length === 0 || (small && cells.some(isLabel));
  });
};

/** Whether a table only lays out a page: one cell, or no headers and mostly other tables or sections. */
const isLayout = (table: Element, rows: Element[]): boolean => {
  if (/^(?:presentation|none)$/.test(property(table, "role"))) return true;
  const cells = rows.flatMap(cellElements);
  if (cells.length <= 1) return true;
  if (cells.some(({ tagName }) => tagName === "th")) return false;
  if (cells.some(containsSection)) return true;
  const nested = cells.flatMap(innerTables);
  return nested.some((inner) => lengthOf(inner) * 2 > lengthOf(table)) && !isLabelled(rows);
};

const toTableRow = (cells: PhrasingContent[][]): TableRow => ({
  type: "tableRow",
  children: cells.map((children) => ({ type: "tableCell", children })),
});

const readCaption = (state: State, table: Element): RootContent[] => {
  const caption = table.children.filter(isElement).find(({ tagName }) => tagName === "caption");
  if (!caption) return [];
  const children = cellContent(state.all(caption));
  return plainText(children) === "" ? [] : [{ type: "paragraph", children }];
};

/** Converts a table to a Markdown table with one header row. A layout table becomes its content. */
export const tableHandler = (state: State, table: Element): RootContent[] => {
  const rows = rowElements(table);
  const caption = readCaption(state, table);
  if (
    isLayout(
      table,
      rows.map(({ row }) => row),
    )
  ) {
    const cells = rows.flatMap(({ row }) => cellElements(row));
    return [...caption, ...cells.flatMap((cell) => state.toFlow(state.all(cell)))];
  }
  const read = rows.map(({ row, header }) => readRow(state, row, header));
  const list = bulletList(read);
  if (list) return [...caption, list];
  const grid = toGrid(read);
  const title: RootContent[] = grid.title.length > 0 ? [{ type: "paragraph", children: grid.title }] : [];
  const whole: RootContent[] =
    grid.rows.length > 0 ? [{ type: "table", align: [], children: grid.rows.map(toTableRow) }] : [];
  return [...caption, ...title, ...whole];
};
