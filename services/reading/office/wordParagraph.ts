import { findChild, type Element, childElements } from "../guard/xml.ts";
import type { Chart } from "../slides/chart.ts";
import { itemMark } from "./itemNumbers.ts";
import { isReference } from "./paragraphRole.ts";
import type { Numbering } from "./wordNumbering.ts";
import { outlineLevel, wordValue, type WordStyles } from "./wordStyles.ts";
import { makeElement, makeRun, makeValue } from "./wordXml.ts";

/* Rewrites the style and numbering of a paragraph in a form that the converter understands. */

/** The style of an item of a list of this level, from 1, whose number is read as text. */
export const itemStyle = (level: number): string => `Known-item-${level}`;

export interface WordContext {
  styles: WordStyles;
  numbering: Numbering;
  /** A chart of the part, by the id of its relation. */
  chart(id: string): Chart | undefined;
  /** The texts of a SmartArt graphic, by the id of the relation to its data. */
  diagram(id: string): string[];
  /** Whether the part has a relation with this id. */
  hasRelation(id: string): boolean;
  /** The embedded part at this position, by the id of its relation; undefined if it is not read. */
  chunk(id: string): string | undefined;
}

/** The id of one of KNOWN_STYLES in docx.ts. */
const knownStyle = (properties: Element | undefined, styles: WordStyles): string | undefined => {
  const id = wordValue(findChild(properties, "w:pStyle"));
  const own = outlineLevel(properties);
  const level = own === null ? undefined : (own ?? styles.heading(id));
  if (level) return `Known-h${level}`;
  const kind = styles.kind(id);
  return kind && `Known-${kind}`;
};

/** The numbering properties of a paragraph, from itself or its style; list 0 means none. */
const numberingProperties = (properties: Element | undefined, styles: WordStyles): Element | undefined => {
  const own = findChild(properties, "w:numPr");
  const styled = styles.numbering(wordValue(findChild(properties, "w:pStyle")));
  const list = wordValue(findChild(own, "w:numId") ?? findChild(styled, "w:numId"));
  const level = wordValue(findChild(own, "w:ilvl") ?? findChild(styled, "w:ilvl")) || "0";
  if (list === "" || list === "0") return undefined;
  return makeElement("w:numPr", [makeValue("w:ilvl", level), makeValue("w:numId", list)]);
};

const withoutProperties = (paragraph: Element): (Element | string)[] =>
  paragraph.children.filter((child) => typeof child === "string" || child.name !== "w:pPr");

/** A paragraph that carries its number as text loses its numbering properties. */
const knownProperties = (properties: Element | undefined, style: string): Element => {
  const others = properties
    ? childElements(properties).filter(({ name }) => name !== "w:pStyle" && name !== "w:numPr")
    : [];
  return makeElement("w:pPr", [makeValue("w:pStyle", style), ...others]);
};

/** The rewritten paragraph; empty if it is not part of the text. */
export const rewriteParagraph = (element: Element, { styles, numbering }: WordContext): Element[] => {
  const properties = findChild(element, "w:pPr");
  const known = knownStyle(properties, styles);
  // lines of the table of contents repeat headings
  if (known === "Known-contents") return [];
  const numberProperties = numberingProperties(properties, styles);
  const numbered = numberProperties && numbering.next(numberProperties);
  if (known) {
    const label = numbered?.label ? [makeRun(`${numbered.label} `)] : [];
    return [{ ...element, children: [knownProperties(properties, known), ...label, ...withoutProperties(element)] }];
  }
  if (!properties || !numberProperties) return [element];
  if (numbered && isReference(numbered.label, true)) {
    const level = Number(wordValue(findChild(numberProperties, "w:ilvl"))) + 1;
    const label = makeRun(`${numbered.label} `);
    return [
      { ...element, children: [knownProperties(properties, itemStyle(level)), label, ...withoutProperties(element)] },
    ];
  }
  const mark = numbered?.label
    ? [makeElement("w:bookmarkStart", [], { "w:name": itemMark(numbered.list, numbered.number) })]
    : [];
  const others = childElements(properties).filter(({ name }) => name !== "w:numPr");
  const counted = { ...properties, children: [...others, numberProperties] };
  return [{ ...element, children: [counted, ...mark, ...withoutProperties(element)] }];
};
