import type { Element as Html, ElementContent } from "hast";
import { type Element, childElements, findAll, textContent } from "../guard/xml.ts";
import { NOTE, NOTE_REFERENCE } from "../html/notes.ts";
import { element } from "../html/tree.ts";
import { cleanDescription } from "./descriptions.ts";
import { countUp } from "./listNumbers.ts";
import { addItemLabel, isOrdered, itemLabel, startCounters } from "./odtItemLabels.ts";
import type { OdtStyles } from "./odtStyles.ts";
import { odtTable } from "./odtTable.ts";
import { isReference } from "./paragraphRole.ts";

/* Converts OpenDocument text to HTML. */

export interface OdtContext {
  styles: OdtStyles;
  /** The notes so far, in order. */
  notes: Html[];
  /** The last numbers of the levels of the lists so far, by their ids and by their styles. */
  lastNumbers: Map<string, number[]>;
  /** The number of a heading; "" without one. Headings are counted in their order. */
  chapterNumber(heading: Element): string;
  /** An embedded formula or chart, by its name; empty if there is none. */
  object(name: string): Html[];
}

interface ListPosition {
  style: string;
  level: number;
  /** The last numbers of all levels, which the items of the list count. */
  counters: number[];
}

/** Indexes, which repeat headings, and elements that are not part of the text. */
const SKIPPED = new Set([
  "text:tracked-changes",
  "text:table-of-content",
  "text:illustration-index",
  "text:table-index",
  "text:sequence-decls",
  // templates of entries
  "text:bibliography-source",
  "text:alphabetical-index-source",
  "text:user-index-source",
  "text:object-index-source",
  "text:note-citation",
  "office:annotation",
  "officeooo:annotation",
  "office:annotation-end",
  "office:forms",
  "office:event-listeners",
  "svg:title",
  "svg:desc",
]);

const attribute = (node: Element, name: string): string => node.attributes[name] ?? "";

const styleOf = (node: Element): string => attribute(node, "text:style-name");

const convertChildren = (node: Element, context: OdtContext): ElementContent[] =>
  node.children.flatMap((child): ElementContent[] =>
    typeof child === "string" ? [{ type: "text", value: child }] : odtNode(child, context),
  );

const applyStyle = (style: string, { styles }: OdtContext, children: ElementContent[]): ElementContent[] => {
  if (styles.isHidden(style)) return [];
  if (styles.names(style).some((name) => /^(?:Source Text|Teletype|Verbatim Char|Code)$/.test(name))) {
    return [element("code", children)];
  }
  const marks = [
    styles.isSuperscript(style) ? "sup" : "",
    styles.isStrikethrough(style) ? "s" : "",
    styles.isItalic(style) ? "em" : "",
    styles.isBold(style) ? "strong" : "",
  ];
  return marks.filter(Boolean).reduce((content, mark) => [element(mark, content)], children);
};

const PARAGRAPHS: [string, RegExp][] = [
  ["h1", /^Title$/],
  ["pre", /^(?:Preformatted Text|Source Code|HTML Preformatted)$/],
  ["blockquote", /^(?:Quotations|Quote|Intense Quote|Block Text|Block Quotation)$/],
];

const isBlock = (node: ElementContent): boolean =>
  node.type === "element" && /^(?:p|table|ul|ol|pre|blockquote|h[1-6])$/.test(node.tagName);

/** A paragraph, and after it the charts and text boxes that are anchored in it. */
const paragraph = (node: Element, context: OdtContext): ElementContent[] => {
  const names = context.styles.names(styleOf(node));
  const tag = PARAGRAPHS.find(([, pattern]) => names.some((name) => pattern.test(name)))?.[0] ?? "p";
  const content = convertChildren(node, context);
  const text = content.filter((child) => !isBlock(child));
  const children = applyStyle(tag === "p" ? styleOf(node) : "", context, text);
  return [
    tag === "blockquote" ? element(tag, [element("p", children)]) : element(tag, children),
    ...content.filter(isBlock),
  ];
};

/** A number that a program stored for others that do not count. */
const isStoredNumber = ({ name }: Element): boolean => name === "text:number";

/** Items have the numbers of their list, unless others refer to them. */
const storedNumber = (node: Element): ElementContent[] => {
  const label = textContent(node).trim();
  return isReference(label) ? [{ type: "text", value: `${label} ` }] : [];
};

/** A heading, and after it the charts and text boxes that are anchored in it. */
const heading = (node: Element, context: OdtContext): ElementContent[] => {
  const level = Math.min(Math.max(Number(attribute(node, "text:outline-level")) || 1, 1), 6);
  const [stored] = childElements(node).filter(isStoredNumber);
  const children = node.children.filter((child) => child !== stored);
  const content = convertChildren({ ...node, children }, context);
  const title = content.filter((child) => !isBlock(child));
  const counted = context.chapterNumber(node);
  const number = stored ? textContent(stored).trim() : counted;
  const label: ElementContent[] = number === "" ? [] : [{ type: "text", value: `${number} ` }];
  return [element(`h${level}`, [...label, ...title]), ...content.filter(isBlock)];
};

const note = (node: Element, context: OdtContext): ElementContent[] => {
  const body = childElements(node).find(({ name }) => name === "text:note-body");
  const html = element(NOTE, [], { id: "" });
  context.notes.push(html);
  const id = String(context.notes.length);
  html.properties = { id };
  html.children = body ? convertChildren(body, context) : [];
  return [element(NOTE_REFERENCE, [], { id })];
};

const isHeading = (item: Element): boolean => childElements(item).some(({ name }) => name === "text:h");

/** An item without a paragraph contains only the items of the next level. */
const isNumbered = (item: Element): boolean =>
  item.name === "text:list-item" && childElements(item).some(({ name }) => name === "text:p");

/** Counts an item, from the number that it has itself, if any. */
const countItem = (item: Element, { style, level, counters }: ListPosition, { styles }: OdtContext): number => {
  const given = Number(attribute(item, "text:start-value"));
  if (given > 0) counters[level - 1] = given - 1;
  return countUp(counters, level - 1, (at) => ({ start: styles.listLevel(style, at + 1)?.start ?? 1 }));
};

const list = (node: Element, context: OdtContext, above?: ListPosition): ElementContent[] => {
  const style = styleOf(node) || (above?.style ?? "");
  const counters = above?.counters ?? startCounters(node, style, context.lastNumbers);
  const position = { style, level: (above?.level ?? 0) + 1, counters };
  const items = childElements(node).filter(({ name }) => name === "text:list-item" || name === "text:list-header");
  const content = (item: Element, label = ""): ElementContent[] =>
    childElements(item).flatMap((child) => {
      if (label !== "" && isStoredNumber(child)) return [];
      if (child.name !== "text:list") return odtNode(child, context);
      // an item without a paragraph continues the list inside the item before
      if (isNumbered(item)) counters.length = position.level;
      return list(child, context, position);
    });
  // chapter numbering puts headings in lists
  if (items.some(isHeading)) return items.flatMap((item) => content(item));
  const levels = (level: number) => context.styles.listLevel(style, level);
  const ordered = isOrdered(levels, position.level);
  let expected: number | undefined;
  let start = 1;
  const converted: Html[] = [];
  for (const item of items) {
    if (!isNumbered(item)) {
      // an item of its own would have a number
      if (ordered && expected !== undefined) for (const part of content(item)) converted.at(-1)?.children.push(part);
      else converted.push(element("li", content(item)));
      continue;
    }
    const number = countItem(item, position, context);
    const label = ordered ? "" : itemLabel(levels, counters);
    const value = ordered && expected !== undefined && number !== expected ? { value: String(number) } : {};
    if (expected === undefined) start = number;
    expected = number + 1;
    converted.push(element("li", addItemLabel(label, content(item, label)), value));
  }
  const properties = { dataList: style, ...(ordered && start > 1 ? { start } : {}) };
  // Markdown numbers every item, so items before the first number get a list without numbers
  const first = ordered && expected !== undefined ? items.findIndex(isNumbered) : converted.length;
  const before = first > 0 ? [element("ul", converted.slice(0, first), { dataList: style })] : [];
  return first < converted.length ? [...before, element("ol", converted.slice(first), properties)] : before;
};

/** The description among these elements, else the title, as a picture. */
export const describedPicture = (nodes: readonly Element[]): ElementContent[] => {
  const named = ["svg:desc", "svg:title"].flatMap((name) => nodes.filter((node) => node.name === name));
  const alt = named.map((node) => cleanDescription(textContent(node))).find((text) => text !== "");
  return alt === undefined ? [] : [element("img", [], { alt })];
};

/** The formulas, charts or text boxes of a frame, else the description of its image. */
const frame = (node: Element, context: OdtContext): ElementContent[] => {
  const found = findAll(node, "draw:object").flatMap((object) => context.object(attribute(object, "xlink:href")));
  if (found.length > 0) return found;
  const boxes = findAll(node, "draw:text-box").flatMap((box) => convertChildren(box, context));
  if (boxes.length > 0) return boxes;
  return describedPicture([...findAll(node, "svg:desc"), ...findAll(node, "svg:title")]);
};

const hasText = (node: Element): boolean => findAll(node, "text:p").some((line) => textContent(line).trim() !== "");

/** A group of shapes after its description, or a shape, whose description is read if it has no text. */
const shape = (node: Element, context: OdtContext): ElementContent[] => {
  const content = convertChildren(node, context);
  return node.name === "draw:g" || !hasText(node) ? [...describedPicture(childElements(node)), ...content] : content;
};

const spaces = (count: string): ElementContent => ({
  type: "text",
  value: " ".repeat(Math.min(Number(count) || 1, 200)),
});

/** Converts one node to HTML. An unknown element is replaced by its children. */
export const odtNode = (node: Element, context: OdtContext): ElementContent[] => {
  if (SKIPPED.has(node.name) || attribute(node, "text:display") === "none") return [];
  switch (node.name) {
    case "text:p":
      return paragraph(node, context);
    case "text:h":
      return heading(node, context);
    case "text:span":
      return applyStyle(styleOf(node), context, convertChildren(node, context));
    case "text:ruby":
      return [element("ruby", convertChildren(node, context))];
    case "text:ruby-text":
      return [element("rt", [textContent(node)])];
    case "text:a":
      return [element("a", convertChildren(node, context), { href: attribute(node, "xlink:href") })];
    case "text:s":
      return [spaces(attribute(node, "text:c"))];
    case "text:tab":
      return [{ type: "text", value: "\t" }];
    case "text:line-break":
      return [element("br")];
    case "text:number":
      return storedNumber(node);
    case "text:note":
      return note(node, context);
    case "text:list":
      return list(node, context);
    case "table:table":
      return [odtTable(node, (cell) => convertChildren(cell, context))];
    case "draw:frame":
      return frame(node, context);
    default:
      return node.name.startsWith("draw:") ? shape(node, context) : convertChildren(node, context);
  }
};
