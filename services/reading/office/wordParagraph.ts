import { childOf, type Element, elementsOf } from "../guard/xml.ts";
import { itemMark } from "./itemNumbers.ts";
import type { Numbering } from "./wordNumbering.ts";
import { outlineOf, valueOf, type WordStyles } from "./wordStyles.ts";
import { make, run, valued } from "./wordXml.ts";

/* What a paragraph of Word is, said so that the converter behind understands it. */

export interface WordContext {
  styles: WordStyles;
  numbering: Numbering;
}

/** The ids of KNOWN_STYLES in docx.ts. */
const knownStyle = (properties: Element | undefined, styles: WordStyles): string | undefined => {
  const id = valueOf(childOf(properties, "w:pStyle"));
  const own = outlineOf(properties);
  const level = own === null ? undefined : (own ?? styles.heading(id));
  if (level) return `Known-h${level}`;
  const kind = styles.kind(id);
  return kind && `Known-${kind}`;
};

/** How a paragraph is counted: what it does not say itself, its style says; list 0 is none. */
const countingOf = (properties: Element | undefined, styles: WordStyles): Element | undefined => {
  const own = childOf(properties, "w:numPr");
  const styled = styles.numbering(valueOf(childOf(properties, "w:pStyle")));
  const list = valueOf(childOf(own, "w:numId") ?? childOf(styled, "w:numId"));
  const level = valueOf(childOf(own, "w:ilvl") ?? childOf(styled, "w:ilvl")) || "0";
  if (list === "" || list === "0") return undefined;
  return make("w:numPr", [valued("w:ilvl", level), valued("w:numId", list)]);
};

const withoutProperties = (paragraph: Element): (Element | string)[] =>
  paragraph.children.filter((child) => typeof child === "string" || child.name !== "w:pPr");

/** A heading is numbered by what stands in it, and is no item. */
const knownProperties = (properties: Element | undefined, style: string): Element => {
  const others = properties
    ? elementsOf(properties).filter(({ name }) => name !== "w:pStyle" && name !== "w:numPr")
    : [];
  return make("w:pPr", [valued("w:pStyle", style), ...others]);
};

/** The paragraph, or none where it is no part of the text. */
export const rewriteParagraph = (element: Element, { styles, numbering }: WordContext): Element[] => {
  const properties = childOf(element, "w:pPr");
  const known = knownStyle(properties, styles);
  // Each of its lines repeats a heading that follows.
  if (known === "Known-contents") return [];
  const counting = countingOf(properties, styles);
  const numbered = counting && numbering.next(counting);
  if (known) {
    const label = numbered?.label ? [run(`${numbered.label} `)] : [];
    return [{ ...element, children: [knownProperties(properties, known), ...label, ...withoutProperties(element)] }];
  }
  if (!properties || !counting) return [element];
  const mark = numbered?.label
    ? [make("w:bookmarkStart", [], { "w:name": itemMark(numbered.list, numbered.number) })]
    : [];
  const others = elementsOf(properties).filter(({ name }) => name !== "w:numPr");
  const counted = { ...properties, children: [...others, counting] };
  return [{ ...element, children: [counted, ...mark, ...withoutProperties(element)] }];
};
