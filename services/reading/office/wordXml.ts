import type { Element } from "../guard/xml.ts";

/* Word's XML, made anew. */

export const make = (
  name: string,
  children: (Element | string)[] = [],
  attributes: Record<string, string> = {},
): Element => ({
  name,
  attributes,
  children,
});

export const valued = (name: string, value: string): Element => make(name, [], { "w:val": value });

/** A piece of text without any look of its own. */
export const run = (text: string): Element => make("w:r", [make("w:t", [text], { "xml:space": "preserve" })]);
