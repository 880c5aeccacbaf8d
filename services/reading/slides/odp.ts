import type { ElementContent } from "hast";
import { childOf, elementsOf, findAll, textOf, type Element } from "../guard/xml.ts";
import { openDocument } from "../guard/openDocument.ts";
import type { Zip } from "../guard/zip.ts";
import { toMarkdown } from "../html/toMarkdown.ts";
import { element } from "../html/tree.ts";
import { joinBlocks } from "../office/joinBlocks.ts";
import { odtNode, type OdtContext } from "../office/odtBody.ts";
import { readOdtStyles } from "../office/odtStyles.ts";
import { readPart, requirePart } from "../office/part.ts";

/** The same on every slide. */
const FURNITURE = new Set(["date-time", "footer", "header", "page-number", "page", "handout"]);

const classOf = (node: Element): string => node.attributes["presentation:class"] ?? "";

const lineOf = (node: Element): string => findAll(node, "text:p").map(textOf).join(" ").replace(/\s+/g, " ").trim();

/** The values of an embedded chart: a table inside its own part. */
const chartIn = (frame: Element, zip: Zip): Element[] => {
  const objects = findAll(frame, "draw:object").map(({ attributes }) => attributes["xlink:href"] ?? "");
  const parts = objects.map((name) => readPart(zip, `${name.replace(/^\.\/|\/$/g, "")}/content.xml`));
  return parts.flatMap((part) => (part ? findAll(part, "table:table") : []));
};

/** Cells of slides are written as lists whose bullets nobody sees. */
const withoutLists = (node: ElementContent): ElementContent => {
  if (node.type !== "element") return node;
  const tagName = node.tagName === "ul" || node.tagName === "li" ? "div" : node.tagName;
  return { ...node, tagName, children: node.children.map(withoutLists) };
};

const shape = (node: Element, context: OdtContext, zip: Zip): ElementContent[] => {
  if (node.name === "presentation:notes" || classOf(node) === "title" || FURNITURE.has(classOf(node))) return [];
  if (node.name === "draw:g") return elementsOf(node).flatMap((child) => shape(child, context, zip));
  const tables = [...findAll(node, "table:table"), ...chartIn(node, zip)];
  return tables.length > 0
    ? tables.flatMap((table) => odtNode(table, context)).map(withoutLists)
    : odtNode(node, context);
};

const notesOf = (page: Element, context: OdtContext): ElementContent[] => {
  const frames = elementsOf(childOf(page, "presentation:notes") ?? page).filter((node) => classOf(node) === "notes");
  const notes = frames.flatMap((frame) => findAll(frame, "draw:text-box")).flatMap((box) => odtNode(box, context));
  return frames.some((frame) => lineOf(frame) !== "") ? [element("p", ["Notes:"]), ...notes] : [];
};

/** The first page, and one that holds no more than title and subtitle, opens the whole or a part of it. */
const opens = (page: Element): boolean =>
  elementsOf(page).every(
    (node) =>
      node.name === "presentation:notes" || /^(?:title|subtitle)$/.test(classOf(node)) || FURNITURE.has(classOf(node)),
  );

const pageContent = (page: Element, number: number, context: OdtContext, zip: Zip): ElementContent[] => {
  const title = elementsOf(page)
    .filter((node) => classOf(node) === "title")
    .map(lineOf)
    .join(" ");
  const heading = title === "" ? [] : [element(number === 1 || opens(page) ? "h1" : "h2", [title])];
  return [...heading, ...elementsOf(page).flatMap((node) => shape(node, context, zip)), ...notesOf(page, context)];
};

/** The slides of an OpenDocument presentation, one page each. Throws UnreadableFile. */
export const readOdp = async (bytes: Uint8Array): Promise<string[]> => {
  const zip = openDocument(bytes);
  const content = requirePart(zip, "content.xml");
  const styles = readPart(zip, "styles.xml");
  const known = readOdtStyles(styles ? [styles, content] : [content]);
  const pages = findAll(content, "draw:page");
  return pages.map((page, index) => {
    const context: OdtContext = { styles: known, notes: [], formula: () => undefined };
    return toMarkdown({ type: "root", children: joinBlocks(pageContent(page, index + 1, context, zip)) });
  });
};
