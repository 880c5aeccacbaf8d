import type { Element, ElementContent } from "hast";
import { element } from "../html/tree.ts";

/** What a row says of a cell before the cells come. */
export interface CellPlan {
  /** Its right edge, in twips. */
  edge: number;
  /** Continues the cell to its left, or above it. */
  wide: boolean;
  tall: boolean;
}

export interface EdgeRow {
  header: boolean;
  plans: CellPlan[];
  cells: ElementContent[][];
}

/** Edges that a person takes for one line, half a millimetre apart. */
const SAME_EDGE = 30;

const edgesOf = (rows: EdgeRow[]): number[] => {
  const all = [...new Set(rows.flatMap(({ plans }) => plans.map(({ edge }) => edge)))].toSorted((a, b) => a - b);
  return all.filter((edge, at) => at === 0 || edge - (all[at - 1] ?? 0) > SAME_EDGE);
};

const columnOf = (edges: number[], edge: number): number =>
  Math.max(
    edges.findLastIndex((known) => known <= edge + SAME_EDGE),
    0,
  );

interface Placed {
  cell: Element;
  from: number;
}

/** Rows as a table of HTML: how far cells reach follows from their edges. */
export const edgeTable = (rows: EdgeRow[]): Element => {
  const edges = edgesOf(rows);
  let above: Placed[] = [];
  const html = rows.map(({ header, plans, cells }) => {
    const placed: Placed[] = [];
    const own: Element[] = [];
    let from = 0;
    for (const [at, content] of cells.entries()) {
      const plan = plans[at];
      const to = plan ? columnOf(edges, plan.edge) + 1 : from + 1;
      const left = placed.at(-1);
      const over = plan?.tall ? above.find((other) => other.from === from) : undefined;
      if (plan?.wide && left) left.cell.properties["colSpan"] = Number(left.cell.properties["colSpan"]) + to - from;
      else if (over) {
        over.cell.properties["rowSpan"] = Number(over.cell.properties["rowSpan"]) + 1;
        placed.push(over);
      } else {
        const cell = element("td", content, { colSpan: Math.max(to - from, 1), rowSpan: 1 });
        placed.push({ cell, from });
        own.push(cell);
      }
      from = Math.max(to, from);
    }
    above = placed;
    return { header, row: element("tr", own) };
  });
  return element("table", [
    element(
      "thead",
      html.filter(({ header }) => header).map(({ row }) => row),
    ),
    element(
      "tbody",
      html.filter(({ header }) => !header).map(({ row }) => row),
    ),
  ]);
};
