import type { Element as Html, ElementContent } from "hast";
import { type Element, elementsOf, findAll, textOf } from "../guard/xml.ts";
import { NOTE, NOTE_REFERENCE } from "../html/notes.ts";
import { element } from "../html/tree.ts";
import type { OdtStyles } from "./odtStyles.ts";
import { odtTable } from "./odtTable.ts";

/* OpenDocument text as the HTML that means the same. */

export interface OdtContext {
  styles: OdtStyles;
  /** The notes met so far, in order. */
  notes: Html[];
  /** A formula inside the file as MathML, by its name; undefined where there is none. */
  formula(name: string): Html | undefined;
}

interface ListPlace {
  style: string;
  level: number;
}

/** Indexes repeat the headings; deletions, comments and forms are not part of the text. */
const LEFT_OUT = new Set([
  "text:tracked-changes",
  "text:table-of-content",
  "text:illustration-index",
  "text:table-index",
  "text:sequence-decls",
  "text:note-citation",
  "office:annotation",
  "office:annotation-end",
  "office:forms",
  "office:event-listeners",
  "svg:title",
  "svg:desc",
  "text:ruby-text",
]);

const attribute = (node: Element, name: string): string => node.attributes[name] ?? "";

const styleOf = (node: Element): string => attribute(node, "text:style-name");

const inside = (node: Element, context: OdtContext): ElementContent[] =>
  node.children.flatMap((child): ElementContent[] =>
    typeof child === "string" ? [{ type: "text", value: child }] : odtNode(child, context),
  );

const marked = (style: string, { styles }: OdtContext, children: ElementContent[]): ElementContent[] => {
  if (styles.isHidden(style)) return [];
  if (styles.names(style).some((name) => /^(?:Source Text|Teletype|Verbatim Char|Code)$/.test(name))) {
    return [element("code", children)];
  }
  const marks = [
    styles.isRaised(style) ? "sup" : "",
    styles.isStruck(style) ? "s" : "",
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

const paragraph = (node: Element, context: OdtContext): ElementContent[] => {
  const names = context.styles.names(styleOf(node));
  const tag = PARAGRAPHS.find(([, pattern]) => names.some((name) => pattern.test(name)))?.[0] ?? "p";
  const children = marked(tag === "p" ? styleOf(node) : "", context, inside(node, context));
  return [tag === "blockquote" ? element(tag, [element("p", children)]) : element(tag, children)];
};

const heading = (node: Element, context: OdtContext): ElementContent[] => {
  const level = Math.min(Math.max(Number(attribute(node, "text:outline-level")) || 1, 1), 6);
  return [element(`h${level}`, inside(node, context))];
};

const note = (node: Element, context: OdtContext): ElementContent[] => {
  const body = elementsOf(node).find(({ name }) => name === "text:note-body");
  const found = element(NOTE, [], { id: "" });
  context.notes.push(found);
  const id = String(context.notes.length);
  found.properties = { id };
  found.children = body ? inside(body, context) : [];
  return [element(NOTE_REFERENCE, [], { id })];
};

const isHeading = (item: Element): boolean => elementsOf(item).some(({ name }) => name === "text:h");

const list = (node: Element, context: OdtContext, above: ListPlace = { style: "", level: 0 }): ElementContent[] => {
  const place = { style: styleOf(node) || above.style, level: above.level + 1 };
  const items = elementsOf(node).filter(({ name }) => name === "text:list-item" || name === "text:list-header");
  const content = (item: Element): ElementContent[] =>
    elementsOf(item).flatMap((child) =>
      child.name === "text:list" ? list(child, context, place) : odtNode(child, context),
    );
  // Chapter numbering puts headings in lists.
  if (items.some(isHeading)) return items.flatMap(content);
  const start = attribute(items[0] ?? node, "text:start-value");
  const numbered = context.styles.isNumbered(place.style, place.level);
  const properties = { dataList: place.style, ...(numbered && start ? { start } : {}) };
  return [
    element(
      numbered ? "ol" : "ul",
      items.map((item) => element("li", content(item))),
      properties,
    ),
  ];
};

/** A picture is its description; a formula or a text box inside the frame is its content. */
const frame = (node: Element, context: OdtContext): ElementContent[] => {
  const formulas = findAll(node, "draw:object").map((object) => context.formula(attribute(object, "xlink:href")));
  const found = formulas.filter((formula) => formula !== undefined);
  if (found.length > 0) return found;
  const boxes = findAll(node, "draw:text-box").flatMap((box) => inside(box, context));
  if (boxes.length > 0) return boxes;
  const described = [...findAll(node, "svg:desc"), ...findAll(node, "svg:title")].map(textOf).find(Boolean);
  return described ? [element("img", [], { alt: described })] : [];
};

const spaces = (count: string): ElementContent => ({
  type: "text",
  value: " ".repeat(Math.min(Number(count) || 1, 200)),
});

/** One node of OpenDocument as HTML; what has no meaning of its own is its content. */
export const odtNode = (node: Element, context: OdtContext): ElementContent[] => {
  if (LEFT_OUT.has(node.name) || attribute(node, "text:display") === "none") return [];
  switch (node.name) {
    case "text:p":
      return paragraph(node, context);
    case "text:h":
      return heading(node, context);
    case "text:span":
      return marked(styleOf(node), context, inside(node, context));
    case "text:a":
      return [element("a", inside(node, context), { href: attribute(node, "xlink:href") })];
    case "text:s":
      return [spaces(attribute(node, "text:c"))];
    case "text:tab":
      return [{ type: "text", value: "\t" }];
    case "text:line-break":
      return [element("br")];
    case "text:note":
      return note(node, context);
    case "text:list":
      return list(node, context);
    case "table:table":
      return [odtTable(node, (cell) => inside(cell, context))];
    case "draw:frame":
      return frame(node, context);
    default:
      return inside(node, context);
  }
};
