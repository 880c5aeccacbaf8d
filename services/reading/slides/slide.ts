import type { ElementContent } from "hast";
import type { Element } from "../guard/xml.ts";
import { toMarkdown } from "../html/toMarkdown.ts";
import { element } from "../html/tree.ts";
import { slideComments } from "./comments.ts";
import { findPlaceholder, shapeTree, type Design } from "./design.ts";
import { nestLists } from "./nestLists.ts";
import { descendantsNamed, childNamed } from "./localNames.ts";
import { readParagraphs } from "./paragraphs.ts";
import type { Parts } from "./parts.ts";
import { repeatedTexts, shapesToHtml } from "./shapes.ts";
import { slideTitle } from "./title.ts";

/** What a page of notes has beside the notes: the slide itself, and what repeats on every page. */
const BESIDE_NOTES = new Set(["sldImg", "sldNum", "dt", "hdr", "ftr"]);

/** The notes of a slide, also those that somebody wrote into boxes of their own. */
const slideNotes = (parts: Parts, slide: string): ElementContent[] => {
  const name = parts.related(slide, "notesSlide") ?? "";
  const shapes = descendantsNamed(shapeTree(parts.xml(name)), "sp").filter(
    (shape) => !BESIDE_NOTES.has(findPlaceholder(shape)?.attributes["type"] ?? ""),
  );
  const links = parts.relations(name);
  const [first, ...rest] = shapes.flatMap((shape) => readParagraphs(childNamed(shape, "txBody"), links, []));
  if (!first) return [];
  return nestLists([{ ...first, content: [{ type: "text", value: "Notes: " }, ...first.content] }, ...rest]);
};

/** Whether a slide has only a title, and so opens a section. */
const isBare = (tree: Element | undefined, content: ElementContent[]): boolean =>
  content.length === 0 && ["pic", "graphicFrame"].every((name) => descendantsNamed(tree, name).length === 0);

export interface SlideDesign extends Design {
  /** Of comments, by their id. */
  authors: ReadonlyMap<string, string>;
  /** Headers and footers, which are no part of the Markdown, are added here. */
  edges: Set<string>;
}

/**
 * One slide as Markdown: title, content, notes, comments; "" for an empty or missing slide. The first slide and slides that open a section
 * have a title of level 1. Throws UnreadableFile.
 */
export const slideMarkdown = (
  parts: Parts,
  name: string,
  number: number,
  { isOpening, placeholderStyles, drawn, authors, edges }: SlideDesign,
): string => {
  const tree = shapeTree(parts.xml(name));
  for (const text of [...repeatedTexts(tree), ...drawn]) edges.add(text);
  const title = slideTitle(tree);
  const content = shapesToHtml(tree, { parts, links: parts.relations(name), placeholderStyles });
  const level = isOpening || number === 1 || isBare(tree, content) ? "h1" : "h2";
  const heading = title === "" ? [] : [element(level, [title])];
  return toMarkdown({
    type: "root",
    children: [...heading, ...content, ...slideNotes(parts, name), ...slideComments(parts, name, authors)],
  });
};
