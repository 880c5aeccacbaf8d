import type { ElementContent } from "hast";
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

/**
 * One slide as Markdown: title, content, notes. Empty for an empty or missing one. The first slide names the whole, as
 * do those whose layout is made for it. Throws UnreadableFile.
 */
export const slideMarkdown = (parts: Parts, name: string, number: number, { opens, stylesOf }: Design): string => {
  const tree = treeOf(parts.xml(name));
  const title = titleOf(tree);
  const heading = title === "" ? [] : [element(opens || number === 1 ? "h1" : "h2", [title])];
  const content = shapesOf(tree, { parts, links: parts.relations(name), stylesOf });
  return toMarkdown({ type: "root", children: [...heading, ...content, ...notesOf(parts, name)] });
};
