import type { Element, ElementContent } from "hast";
import { element } from "../html/tree.ts";

/** A cell as its row describes it; the contents of the cells follow later. */
export interface CellPlan {
  /** Right edge, in twips. */
  edge: number;
  /** Continues the cell to its left. */
  mergesLeft: boolean;
  /** Continues the cell above. */
  mergesUp: boolean;
}

export interface EdgeRow {
  header: boolean;
  plans: CellPlan[];
  cells: ElementContent[][];
}

/** Edges closer than this are the same column edge, in twips (half a millimetre). */
const SAME_EDGE = 30;

const columnEdges = (rows: EdgeRow[]): number[] => {
  const all = [...new Set(rows.flatMap(({ plans }) => plans.map(({ edge }) => edge)))].toSorted((a, b) => a - b);
  return all.filter((edge, at) => at === 0 || edge - (all[at - 1] ?? 0) > SAME_EDGE);
};

const columnAt = (edges: number[], edge: number): number =>
  Math.max(
    edges.findLastIndex((known) => known <= edge + SAME_EDGE),
    0,
  );

interface PlacedCell {
  cell: Element;
  from: number;
}

/** The rows as an HTML table. The spans of cells follow from their edges. */
export const edgeTable = (rows: EdgeRow[]): Element => {
  const edges = columnEdges(rows);
  let above: PlacedCell[] = [];
  const html = rows.map(({ header, plans, cells }) => {
    const placed: PlacedCell[] = [];
    const own: Element[] = [];
    let from = 0;
    for (const [at, content] of cells.entries()) {
      const plan = plans[at];
      const to = plan ? columnAt(edges, plan.edge) + 1 : from + 1;
      const left = placed.at(-1);
      const over = plan?.mergesUp ? above.find((other) => other.from === from) : undefined;
      if (plan?.mergesLeft && left)
        left.cell.properties["colSpan"] = Number(left.cell.properties["colSpan"]) + to - from;
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
