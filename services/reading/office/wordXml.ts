import type { Element } from "../guard/xml.ts";

/** An element of Word's XML. */
export const makeElement = (
  name: string,
  children: (Element | string)[] = [],
  attributes: Record<string, string> = {},
): Element => ({
  name,
  attributes,
  children,
});

/** An element with a `w:val` attribute. */
export const makeValue = (name: string, value: string): Element => makeElement(name, [], { "w:val": value });

/** A run of unstyled text. */
export const makeRun = (text: string): Element =>
  makeElement("w:r", [makeElement("w:t", [text], { "xml:space": "preserve" })]);
