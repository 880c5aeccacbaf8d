import { childElements, textContent, type Element } from "../guard/xml.ts";
import { toMarkdown } from "../html/toMarkdown.ts";
import { element } from "../html/tree.ts";
import { MAX_HEADERS } from "../warnings.ts";
import { findPlaceholder, placeholderType } from "./design.ts";
import { descendantsNamed, localName } from "./localNames.ts";

/* Headers, footers and dates of slides and of their pages of notes. Most repeat on every slide, so each text is read once. */

/** Types of placeholders that repeat on every slide. */
export const REPEATED_PLACEHOLDERS: ReadonlySet<string> = new Set(["dt", "ftr", "hdr", "sldNum"]);

/** `12`, `Page 5`, `3 / 12`, `Seite 3 von 12`. */
const PAGE_NUMBER = /^\P{N}{0,10}\d+(?:\s*(?:\/|\p{L}{1,4})\s*\d+)?$/u;
/** What programs write into a placeholder that nothing fills: `<footer>`. */
const UNFILLED = /^<[^<>]*>$/;

/** The text without what a program fills in: the date of today, the number of the slide. */
const typedText = (node: Element): string => {
  if (localName(node) === "fld") return "";
  if (localName(node) === "t") return textContent(node);
  return childElements(node)
    .map(typedText)
    .join(localName(node) === "txBody" ? " " : "");
};

const hasOwnText = (type: string, text: string): boolean =>
  /[\p{L}\p{N}]{2}/u.test(text) && !UNFILLED.test(text) && (type === "dt" || !PAGE_NUMBER.test(text));

/** The texts that authors typed into the headers, footers and dates of a slide or a page of notes. */
export const typedHeaders = (tree: Element | undefined): string[] =>
  descendantsNamed(tree, "sp").flatMap((shape) => {
    const type = placeholderType(findPlaceholder(shape));
    if (!REPEATED_PLACEHOLDERS.has(type) || type === "sldNum") return [];
    const text = typedText(shape).replace(/\s+/g, " ").trim();
    return hasOwnText(type, text) ? [text] : [];
  });

const paragraph = (text: string): string => toMarkdown({ type: "root", children: [element("p", [text])] });

/**
 * Adds each header and footer to the end of the first slide that has it, unless the text of a slide contains it anyway. Adds those beyond
 * the first hundred to `left` instead.
 */
export const addHeaders = (slides: readonly string[], headers: readonly string[][], left: Set<string>): string[] => {
  const seen = new Set<string>();
  const whole = headers.some((texts) => texts.length > 0) ? slides.join("\n") : "";
  return slides.map((slide, index) => {
    const fresh = [...new Set(headers[index])].filter((text) => !seen.has(text));
    const parts = fresh.flatMap((text) => {
      seen.add(text);
      if (seen.size > MAX_HEADERS) left.add(text);
      const added = seen.size > MAX_HEADERS ? "" : paragraph(text);
      return added === "" || whole.includes(added) ? [] : [added];
    });
    return [slide, ...parts].filter((part) => part !== "").join("\n\n");
  });
};
