import type { Element as Html } from "hast";
import type { Element } from "../guard/xml.ts";
import { element } from "../html/tree.ts";
import { nestLists } from "./nestLists.ts";
import { childNamed, childrenNamed } from "./localNames.ts";
import { readParagraphs } from "./paragraphs.ts";
import type { Relation } from "./parts.ts";

/** Whether another cell covers this one. */
const isCovered = ({ attributes }: Element): boolean =>
  [attributes["hMerge"], attributes["vMerge"]].some((value) => value === "1" || value === "true");

/** Converts a slide's table to HTML. */
export const tableToHtml = (table: Element, links: ReadonlyMap<string, Relation>): Html => {
  const cell = (node: Element): Html =>
    element("td", nestLists(readParagraphs(childNamed(node, "txBody"), links, [])), {
      colSpan: Number(node.attributes["gridSpan"]) || 1,
      rowSpan: Number(node.attributes["rowSpan"]) || 1,
    });
  const rows = childrenNamed(table, "tr").map((row) =>
    element(
      "tr",
      childrenNamed(row, "tc")
        .filter((node) => !isCovered(node))
        .map(cell),
    ),
  );
  return element("table", rows);
};
