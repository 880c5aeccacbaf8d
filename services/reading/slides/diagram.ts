import type { ElementContent } from "hast";
import type { Element } from "../guard/xml.ts";
import { childNamed, descendantsNamed } from "./localNames.ts";
import { nestLists } from "./nestLists.ts";
import { readParagraphs } from "./paragraphs.ts";
import type { Relation } from "./parts.ts";

/** The boxes of a SmartArt graphic, by its data, as a list. */
export const diagramToHtml = (data: Element | undefined, links: ReadonlyMap<string, Relation>): ElementContent[] => {
  const points = descendantsNamed(data, "pt").filter(({ attributes }) => (attributes["type"] ?? "node") === "node");
  const items = points.flatMap((point) => readParagraphs(childNamed(point, "t"), links, []));
  return nestLists(items.map((item) => ({ ...item, level: 0, mark: "bullet" })));
};
