import type { Element, ElementContent } from "hast";
import { toBlocks, type Paragraph } from "./paragraphs.ts";
import { type CellPlan, type EdgeRow, edgeTable } from "./edgeTable.ts";

/**
 * Collects the blocks of a text: the document's or a note's. A depth is a number of tables: 0 is outside of tables, 2 is a table in
 * a cell of another.
 */
export interface BlockCollector {
  /** Null for a paragraph that is left out. */
  endParagraph(paragraph: Paragraph | null, depth: number): void;
  endCell(depth: number): void;
  /** Inserts blocks before the open paragraph or table: a box that is anchored there. */
  addBlocks(blocks: ElementContent[]): void;
  endRow(plans: CellPlan[], header: boolean, depth: number): void;
  /** Returns all blocks. No other method may be called afterwards. */
  finish(): ElementContent[];
}

/** Limit on the nesting of tables; deeper tables become part of the innermost. */
const MAX_DEPTH = 8;

type Content = (Paragraph | Element)[];

interface OpenTable {
  /** The blocks of the open cell. */
  cell: Content;
  /** The cells of the open row. */
  cells: ElementContent[][];
  rows: EdgeRow[];
}

const isBlank = ({ runs }: Paragraph): boolean => runs.every((run) => run.note === undefined && run.text.trim() === "");

/** A table, followed by the content of unfinished rows and cells as text. */
const tableContent = ({ cell, cells, rows }: OpenTable): Content => [
  ...(rows.length > 0 ? [edgeTable(rows)] : []),
  ...cells.flat().filter((node) => node.type === "element"),
  ...cell,
];

export const createBlockCollector = (): BlockCollector => {
  const content: Content = [];
  const open: OpenTable[] = [];

  const innermost = (): Content => open.at(-1)?.cell ?? content;

  /** Closes deeper tables, which belong to the cell around them, and opens missing ones. */
  const settle = (depth: number): OpenTable | undefined => {
    while (open.length > depth) {
      const ended = tableContent(open.pop()!);
      const around = innermost();
      for (const one of ended) around.push(one);
    }
    while (open.length < Math.min(depth, MAX_DEPTH)) open.push({ cell: [], cells: [], rows: [] });
    return open.at(-1);
  };

  return {
    endParagraph(paragraph, depth) {
      if (paragraph === null || (isBlank(paragraph) && paragraph.kind !== "pre")) return;
      // an open row continues
      const inRow = open[0] !== undefined && open[0].cells.length > 0;
      settle(Math.max(depth, inRow ? 1 : 0));
      innermost().push(paragraph);
    },
    endCell(depth) {
      const table = settle(Math.max(depth, 1));
      if (!table) return;
      table.cells.push(toBlocks(table.cell));
      table.cell = [];
    },
    addBlocks(blocks) {
      for (const node of blocks) if (node.type === "element") content.push(node);
    },
    endRow(plans, header, depth) {
      const table = settle(Math.max(depth, 1));
      if (!table) return;
      if (table.cells.length > 0) table.rows.push({ plans, header, cells: table.cells });
      table.cells = [];
    },
    finish() {
      settle(0);
      return toBlocks(content);
    },
  };
};
