import type { Element, ElementContent } from "hast";
import { toBlocks, type Paragraph } from "./paragraphs.ts";
import { type CellPlan, type EdgeRow, edgeTable } from "./edgeTable.ts";

/** Collects the blocks of a text: the document's or a note's. */
export interface FlowBody {
  /** Null: a paragraph that is left out. */
  endParagraph(paragraph: Paragraph | null, inTable: boolean): void;
  endCell(): void;
  /** Blocks that stand before the open paragraph or table: a box that is anchored there. */
  addBlocks(blocks: ElementContent[]): void;
  endRow(plans: CellPlan[], header: boolean): void;
  /** All blocks. No other method may be called afterwards. */
  finish(): ElementContent[];
}

const isBlank = ({ runs }: Paragraph): boolean => runs.every((run) => run.note === undefined && run.text.trim() === "");

export const flowBody = (): FlowBody => {
  const content: (Paragraph | Element)[] = [];
  let cell: Paragraph[] = [];
  let cells: ElementContent[][] = [];
  let rows: EdgeRow[] = [];

  const endTable = (): void => {
    if (rows.length > 0) content.push(edgeTable(rows));
    // content of unfinished rows and cells is kept as text
    for (const node of cells.flat()) if (node.type === "element") content.push(node);
    for (const paragraph of cell) content.push(paragraph);
    [rows, cells, cell] = [[], [], []];
  };

  return {
    endParagraph(paragraph, inTable) {
      if (paragraph === null || (isBlank(paragraph) && paragraph.kind !== "pre")) return;
      if (!inTable && cells.length === 0) endTable();
      (inTable || cells.length > 0 ? cell : content).push(paragraph);
    },
    endCell() {
      cells.push(toBlocks(cell));
      cell = [];
    },
    addBlocks(blocks) {
      for (const node of blocks) if (node.type === "element") content.push(node);
    },
    endRow(plans, header) {
      if (cells.length > 0) rows.push({ plans, header, cells });
      cells = [];
    },
    finish() {
      endTable();
      return toBlocks(content);
    },
  };
};
