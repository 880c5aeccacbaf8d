import { findChild, type Element, childElements } from "../guard/xml.ts";

/* The roles of Word's styles, by name, outline level and base style. */

export interface WordStyles {
  /** The heading level, 1 to 6; undefined if the style is no heading. */
  heading(styleId: string): number | undefined;
  kind(styleId: string): "code" | "quote" | "contents" | undefined;
  isCode(runStyleId: string): boolean;
  /** The numbering properties of the style. */
  numbering(styleId: string): Element | undefined;
}

/** The `w:val` attribute; "" without one. */
export const wordValue = (element: Element | undefined): string => element?.attributes["w:val"] ?? "";

/** Whether a property that is on or off is on. */
export const isOn = (element: Element | undefined): boolean =>
  element !== undefined && !/^(?:0|false|off)$/.test(wordValue(element));

const HEADING = /^heading ?([1-9])$/i;
const KINDS: ["code" | "quote" | "contents", RegExp][] = [
  ["code", /^(?:source code|html preformatted|preformatted text|code|code block|macro text|macro)$/i],
  ["quote", /^(?:quote|intense quote|block text|quotations|block quotation)$/i],
  ["contents", /^(?:(?:toc|contents|table of contents) ?(?:\d|heading)|table of figures)$/i],
];
const RUN_CODE = /^(?:verbatim char|source text|html (?:code|typewriter|sample|keyboard)|code char|inline code)$/i;

/** The outline level of properties, from 1; null for body text (level 9), undefined if not set. */
export const outlineLevel = (properties: Element | undefined): number | null | undefined => {
  const level = findChild(properties, "w:outlineLvl");
  if (!level) return undefined;
  const value = Number(wordValue(level));
  return value >= 0 && value <= 8 ? Math.min(value + 1, 6) : null;
};

const nameOf = (style: Element): string => wordValue(findChild(style, "w:name"));

const ownHeading = (style: Element): number | null | undefined => {
  const name = nameOf(style);
  if (/^title$/i.test(name)) return 1;
  const numbered = HEADING.exec(name)?.[1];
  return numbered ? Math.min(Number(numbered), 6) : outlineLevel(findChild(style, "w:pPr"));
};

const ownNumbering = (style: Element): Element | undefined => findChild(findChild(style, "w:pPr"), "w:numPr");

const ownKind = (style: Element): "code" | "quote" | "contents" | undefined =>
  KINDS.find(([, names]) => names.test(nameOf(style)))?.[0];

/** Reads word/styles.xml. Without it only the style ids are known. */
export const readWordStyles = (root: Element | undefined): WordStyles => {
  const styles = new Map<string, Element>();
  for (const style of root ? childElements(root) : []) {
    const id = style.attributes["w:styleId"];
    if (style.name === "w:style" && id) styles.set(id, style);
  }
  /** The first value along the chain of base styles; a cycle ends the chain. */
  const inherited = <T>(id: string, own: (style: Element) => T | undefined): T | undefined => {
    const seen = new Set<string>();
    for (let at = id; at && !seen.has(at); ) {
      seen.add(at);
      const style = styles.get(at);
      if (!style) return undefined;
      const value = own(style);
      if (value !== undefined) return value;
      at = wordValue(findChild(style, "w:basedOn"));
    }
    return undefined;
  };
  const headingById = (id: string): number | undefined => {
    const level = styles.has(id) ? undefined : /^(?:Heading|berschrift)([1-6])$/.exec(id)?.[1];
    return level ? Number(level) : undefined;
  };
  return {
    heading: (id) => headingById(id) ?? inherited(id, ownHeading) ?? undefined,
    kind: (id) => inherited(id, ownKind),
    isCode: (id) => inherited(id, (style) => (RUN_CODE.test(nameOf(style)) ? true : undefined)) ?? false,
    numbering: (id) => inherited(id, ownNumbering),
  };
};
