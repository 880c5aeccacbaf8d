import type { ElementContent } from "hast";
import type { Element } from "../guard/xml.ts";
import { toMarkdown } from "../html/toMarkdown.ts";
import { element } from "../html/tree.ts";
import { placeholderOf, treeOf, typeOf, type Design } from "./design.ts";
import { nested } from "./lists.ts";
import { allNamed, childNamed } from "./names.ts";
import { paragraphsOf } from "./paragraphs.ts";
import type { Parts } from "./parts.ts";
import { shapesOf } from "./shapes.ts";
import { titleOf } from "./title.ts";

const notesOf = (parts: Parts, slide: string): ElementContent[] => {
  const name = parts.related(slide, "notesSlide") ?? "";
  const shapes = allNamed(treeOf(parts.xml(name)), "sp");
  const body = shapes.find((shape) => {
    const placeholder = placeholderOf(shape);
    return placeholder !== undefined && typeOf(placeholder) === "body";
  });
  const [first, ...rest] = paragraphsOf(childNamed(body, "txBody"), parts.relations(name), []);
  if (!first) return [];
  return nested([{ ...first, content: [{ type: "text", value: "Notes: " }, ...first.content] }, ...rest]);
};

/** Only a title, and nothing to look at: the slide opens a part. */
const isBare = (tree: Element | undefined, content: ElementContent[]): boolean =>
  content.length === 0 && ["pic", "graphicFrame"].every((name) => allNamed(tree, name).length === 0);

/**
 * One slide as Markdown: title, content, notes. Empty for an empty or missing one. The first slide names the whole, as
 * slides made to open a part name theirs. Throws UnreadableFile.
 */
export const slideMarkdown = (parts: Parts, name: string, number: number, { opens, stylesOf }: Design): string => {
  const tree = treeOf(parts.xml(name));
  const title = titleOf(tree);
  const content = shapesOf(tree, { parts, links: parts.relations(name), stylesOf });
  const level = opens || number === 1 || isBare(tree, content) ? "h1" : "h2";
  const heading = title === "" ? [] : [element(level, [title])];
  return toMarkdown({ type: "root", children: [...heading, ...content, ...notesOf(parts, name)] });
};
