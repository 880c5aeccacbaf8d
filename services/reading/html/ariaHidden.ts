import type { Element, Nodes, Root } from "hast";
import { childNodes, findElements, hasClass, isElement, property, textContent } from "./tree.ts";

/* Text that screen readers pass over (`aria-hidden`). People who see the page see it, unless a style sheet hides it, which no reader knows. */

/** What such a text is: a part of the page, decoration or a copy, or something that nobody can tell from a closed menu. */
export type AriaHidden = "shown" | "decoration" | "unknown";

const isAriaHidden = (node: Element): boolean => property(node, "ariaHidden") === "true";

/** Elements of lines and paragraphs. Programs switch on and off what is larger: windows, menus, slides of a carousel. */
const SMALL = new Set(
  "abbr b bdi big cite code data dd del dt em figcaption h1 h2 h3 h4 h5 h6 ins kbd label li mark p q s samp small span strong sub sup td th time u var".split(
    " ",
  ),
);
/** Names of pictures in fonts, and formulas that stand beside their MathML. */
const DECORATION = /icon|glyph|symbol-|^fa[srlb]?$|^fa-|^bi$|^katex|^mjx|emoji/i;
const LETTER = /[\p{L}\p{N}]/u;

/** UTF-16 units of texts that are compared. */
const MAX_LENGTH = 300;

const squeezed = (text: string): string => text.replace(/\s+/g, "").toLowerCase();

/** The short texts of elements that are not hidden, without spaces. */
function visibleTexts(root: Root): Set<string> {
  const texts = new Set<string>();
  const visit = (node: Nodes): string => {
    if (node.type === "text") return squeezed(node.value).slice(0, MAX_LENGTH + 1);
    if (isElement(node) && isAriaHidden(node)) return "";
    let text = "";
    for (const child of childNodes(node)) {
      const part = visit(child);
      if (text.length <= MAX_LENGTH) text += part;
    }
    if (text.length > MAX_LENGTH) return text.slice(0, MAX_LENGTH + 1);
    texts.add(text);
    return text;
  };
  visit(root);
  return texts;
}

const isDecoration = (node: Element): boolean => hasClass(node, DECORATION) || /^(?:mjx-|i$|svg$)/.test(node.tagName);

/** Whether an element has a formula among its children, whose picture stands beside it. */
const hasFormula = (parent: Nodes): boolean =>
  childNodes(parent).some((child) => isElement(child) && child.tagName === "math");

/** Judges the texts of a page that screen readers pass over. The texts of the page are only compared if it has such. */
export const openAriaHidden = (root: Root): ((node: Element, parent: Nodes) => AriaHidden) => {
  const any = findElements(root, isAriaHidden).length > 0;
  const texts = any ? visibleTexts(root) : new Set<string>();
  const formulas = new WeakMap<Nodes, boolean>();
  const isFormula = (parent: Nodes): boolean => {
    if (!formulas.has(parent)) formulas.set(parent, hasFormula(parent));
    return formulas.get(parent)!;
  };
  return (node, parent) => {
    if (!isAriaHidden(node)) return "shown";
    const text = squeezed(textContent(node));
    if (!LETTER.test(text) || isDecoration(node) || texts.has(text) || isFormula(parent)) return "decoration";
    return SMALL.has(node.tagName) ? "shown" : "unknown";
  };
};
