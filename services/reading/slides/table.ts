import type { Element as Html } from "hast";
import type { Element } from "../guard/xml.ts";
import { element } from "../html/tree.ts";
import { nested } from "./lists.ts";
import { childNamed, childrenNamed } from "./names.ts";
import { paragraphsOf } from "./paragraphs.ts";
import type { Relation } from "./parts.ts";

/** A cell that another covers. */
const isCovered = ({ attributes }: Element): boolean =>
  [attributes["hMerge"], attributes["vMerge"]].some((covered) => covered === "1" || covered === "true");

/** A slide's table as HTML's. */
export const tableOf = (table: Element, links: ReadonlyMap<string, Relation>): Html => {
  const cell = (node: Element): Html =>
    element("td", nested(paragraphsOf(childNamed(node, "txBody"), links, [])), {
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
