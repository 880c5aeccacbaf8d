import type { ElementContent } from "hast";
import { findChild, childElements, findAll, type Element } from "../guard/xml.ts";
import { openDocument } from "../guard/openDocument.ts";
import { toMarkdown } from "../html/toMarkdown.ts";
import { element } from "../html/tree.ts";
import type { Warn } from "../reader.ts";
import { countUnreadHeaders, ignoreWarnings, warnOfCount } from "../warnings.ts";
import { addHeaders } from "./headers.ts";
import { isComment, masterTexts, odpComments, oneLine, openOdpHeaders } from "./odpHeaders.ts";
import { onOneLine } from "./title.ts";
import { joinBlocks } from "../office/joinBlocks.ts";
import { describedPicture, odtNode, type OdtContext } from "../office/odtBody.ts";
import { readObject } from "../office/odtObjects.ts";
import { warnOfOdtParts } from "../office/odtOmissions.ts";
import { readOdtStyles } from "../office/odtStyles.ts";
import { readPart, requirePart } from "../office/xmlParts.ts";

/** Classes of shapes that repeat on every slide. */
const REPEATED = new Set(["date-time", "footer", "header", "page-number", "page", "handout"]);

const presentationClass = (node: Element): string => node.attributes["presentation:class"] ?? "";

/** Replaces lists by plain blocks: table cells of slides are stored as lists without visible bullets. */
const withoutLists = (node: ElementContent): ElementContent => {
  if (node.type !== "element") return node;
  const tagName = node.tagName === "ul" || node.tagName === "li" ? "div" : node.tagName;
  return { ...node, tagName, children: node.children.map(withoutLists) };
};

const shape = (node: Element, context: OdtContext): ElementContent[] => {
  if (
    node.name === "presentation:notes" ||
    presentationClass(node) === "title" ||
    REPEATED.has(presentationClass(node))
  )
    return [];
  if (node.name === "draw:g") {
    const parts = childElements(node);
    return [...describedPicture(parts), ...parts.flatMap((child) => shape(child, context))];
  }
  const tables = findAll(node, "table:table");
  return tables.length > 0
    ? tables.flatMap((table) => odtNode(table, context)).map(withoutLists)
    : odtNode(node, context);
};

const slideNotes = (page: Element, context: OdtContext): ElementContent[] => {
  const notesPage = findChild(page, "presentation:notes");
  const frames = (notesPage ? childElements(notesPage) : []).filter((node) => !REPEATED.has(presentationClass(node)));
  const notes = frames.flatMap((frame) => findAll(frame, "draw:text-box")).flatMap((box) => odtNode(box, context));
  return frames.some((frame) => oneLine(frame) !== "") ? [element("p", ["Notes:"]), ...notes] : [];
};

/** Whether a page has only a title and a subtitle, and so opens a section. */
const isOpeningPage = (page: Element): boolean =>
  childElements(page).every(
    (node) =>
      node.name === "presentation:notes" ||
      isComment(node) ||
      /^(?:title|subtitle)$/.test(presentationClass(node)) ||
      REPEATED.has(presentationClass(node)),
  );

/** The titles with their links. */
const linkedTitle = (titles: Element[], context: OdtContext): ElementContent[] =>
  titles
    .flatMap((title) => findAll(title, "text:p"))
    .flatMap((line) => odtNode(line, context))
    .flatMap((line) => (line.type === "element" ? onOneLine(line.children) : []));

const pageContent = (page: Element, number: number, context: OdtContext): ElementContent[] => {
  const titles = childElements(page).filter((node) => presentationClass(node) === "title");
  const title = titles.map(oneLine).join(" ");
  const hasLink = titles.some((node) => findAll(node, "text:a").length > 0);
  const content = hasLink ? linkedTitle(titles, context) : [title];
  const heading = title === "" ? [] : [element(number === 1 || isOpeningPage(page) ? "h1" : "h2", content)];
  const shapes = childElements(page).flatMap((node) => shape(node, context));
  return [...heading, ...shapes, ...slideNotes(page, context), ...odpComments(page)];
};

/** Reads an OpenDocument presentation, one page per slide. Throws UnreadableFile. */
export const readOdp = async (bytes: Uint8Array, warn: Warn = ignoreWarnings): Promise<string[]> => {
  const zip = openDocument(bytes);
  const content = requirePart(zip, "content.xml");
  const styles = readPart(zip, "styles.xml");
  const odtStyles = readOdtStyles(styles ? [styles, content] : [content]);
  const pages = findAll(content, "draw:page");
  const object = (name: string) => readObject(zip, name);
  warnOfOdtParts(warn, content, { object, styles: odtStyles, pageStyles: undefined, hasComments: true });
  const texts = pages.map((page, index) => {
    const context: OdtContext = {
      styles: odtStyles,
      notes: [],
      lastNumbers: new Map(),
      chapterNumber: () => "",
      object,
    };
    return toMarkdown({ type: "root", children: joinBlocks(pageContent(page, index + 1, context)) });
  });
  const left = new Set(masterTexts(styles, pages));
  const whole = addHeaders(texts, pages.map(openOdpHeaders(content)), left);
  warnOfCount(
    warn,
    "headers_and_footers_left_out",
    countUnreadHeaders([...left], () => whole.join("\n")),
  );
  return whole;
};
