import { isTable } from "./blocks.ts";
import { isValue } from "./borderlessTable.ts";
import { overlap, width } from "./geometry.ts";
import type { LaidOutPage } from "./readPage.ts";
import type { Table } from "./ruledTables.ts";

/** Minimum common share of the width of two parts of a table. */
const MIN_OVERLAP = 0.8;
/** Maximum difference between the edges of two parts without values, which would distinguish rows from headers, in points. */
const SAME_EDGE = 3;

type Columns = LaidOutPage["columns"];

const lastPart = (columns: Columns) => columns.findLast((column) => column.length > 0)?.at(-1);
const firstPart = (columns: Columns) => columns.find((column) => column.length > 0)?.[0];

const hasValues = (row: readonly string[]): boolean => {
  const filled = row.slice(1).filter((cell) => cell !== "");
  return filled.filter(isValue).length * 2 > filled.length;
};

/** Whether a table at the top of a page continues the one at the end of the previous page, without its header. */
function continues(above: Table, below: Table): boolean {
  const [header = [], ...body] = above.rows;
  const first = below.rows[0] ?? [];
  const shared = overlap(above.x0, above.x1, below.x0, below.x1);
  if (first.length !== header.length || shared < MIN_OVERLAP * Math.max(width(above), width(below))) return false;
  if (hasValues(header) || first.join("\n") === header.join("\n")) return false;
  if (body.some(hasValues)) return hasValues(first);
  return Math.abs(above.x0 - below.x0) < SAME_EDGE && Math.abs(above.x1 - below.x1) < SAME_EDGE;
}

/** The columns of the pages (null: not laid out). A continued table gets its header again, because a passage never crosses a page. */
export function repeatHeaders(pages: readonly (Columns | null)[]): (Columns | null)[] {
  let above: Table | undefined;
  return pages.map((columns) => {
    const [first, last] = columns === null ? [] : [firstPart(columns), lastPart(columns)];
    const table =
      above && first && isTable(first) && continues(above, first)
        ? { ...first, rows: [above.rows[0]!, ...first.rows] }
        : first;
    const end = last === first ? table : last;
    above = end && isTable(end) ? end : undefined;
    return table === first || !table
      ? columns
      : columns!.map((column) => column.map((part) => (part === first ? table : part)));
  });
}
