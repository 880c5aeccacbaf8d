import type { ElementContent } from "hast";
import type { Element } from "../guard/xml.ts";
import { toMarkdown } from "../html/toMarkdown.ts";
import { element } from "../html/tree.ts";
import { slideComments } from "./comments.ts";
import { findPlaceholder, placeholderType, shapeTree, type Design } from "./design.ts";
import { REPEATED_PLACEHOLDERS, typedHeaders } from "./headers.ts";
import { nestLists } from "./nestLists.ts";
import { descendantsNamed, childNamed } from "./localNames.ts";
import { readParagraphs } from "./paragraphs.ts";
import type { Parts, Relation } from "./parts.ts";
import { clickAddress, isLink, linkTo, shapesToHtml } from "./shapes.ts";
import { findTitle, onOneLine } from "./title.ts";

/** Whether a shape is part of the notes on a page of notes, and neither the slide itself nor what repeats on every page. */
const isNote = (shape: Element): boolean => {
  const type = placeholderType(findPlaceholder(shape));
  return type !== "sldImg" && !REPEATED_PLACEHOLDERS.has(type);
};

/** The notes of a slide, also those in separate text boxes. Adds the headers and footers of the notes page to `headers`. */
const slideNotes = (parts: Parts, slide: string, headers: string[]): ElementContent[] => {
  const name = parts.related(slide, "notesSlide") ?? "";
  const tree = shapeTree(parts.xml(name));
  headers.push(...typedHeaders(tree));
  const shapes = descendantsNamed(tree, "sp").filter(isNote);
  const links = parts.relations(name);
  const [first, ...rest] = shapes.flatMap((shape) => readParagraphs(childNamed(shape, "txBody"), links, []));
  if (!first) return [];
  return nestLists([{ ...first, content: [{ type: "text", value: "Notes: " }, ...first.content] }, ...rest]);
};

/** The title with its links, or with that of its shape. */
const linkedTitle = (title: string, shape: Element, links: ReadonlyMap<string, Relation>): ElementContent[] => {
  const lines = readParagraphs(childNamed(shape, "txBody"), links, []);
  const content = lines.flatMap((line) => onOneLine(line.content));
  return content.some(isLink)
    ? content
    : linkTo(clickAddress(shape, "nvSpPr", { links }), [{ type: "text", value: title }]);
};

/** Whether a slide has only a title, and so opens a section. */
const isBare = (tree: Element | undefined, content: ElementContent[]): boolean =>
  content.length === 0 && ["pic", "graphicFrame"].every((name) => descendantsNamed(tree, name).length === 0);

export interface SlideDesign extends Design {
  /** Of comments, by their id. */
  authors: ReadonlyMap<string, string>;
  /** The slide's headers and footers, which are no part of its Markdown, are added here. */
  headers: string[];
}

/**
 * One slide as Markdown: title, content, notes, comments; "" for an empty or missing slide. The first slide and slides that open a section
 * have a title of level 1. Throws UnreadableFile.
 */
export const slideMarkdown = (
  parts: Parts,
  name: string,
  number: number,
  { isOpening, placeholderStyles, authors, headers }: SlideDesign,
): string => {
  const tree = shapeTree(parts.xml(name));
  headers.push(...typedHeaders(tree));
  const { title, shape } = findTitle(tree);
  const links = parts.relations(name);
  const content = shapesToHtml(tree, { parts, links, title: shape, placeholderStyles });
  const level = isOpening || number === 1 || isBare(tree, content) ? "h1" : "h2";
  const heading = shape ? [element(level, linkedTitle(title, shape, links))] : [];
  return toMarkdown({
    type: "root",
    children: [...heading, ...content, ...slideNotes(parts, name, headers), ...slideComments(parts, name, authors)],
  });
};
