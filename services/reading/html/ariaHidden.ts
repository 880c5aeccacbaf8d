import type { Element, Nodes, Root } from "hast";
import { childNodes, findElements, hasClass, isElement, property, textContent } from "./tree.ts";

/* Finds text that screen readers skip (`aria-hidden`). A page shows it unless a style sheet hides it, and readers do not see style sheets. */

/** "shown": a part of the page. "decoration": an icon or a copy of visible text. "unknown": may be hidden, such as a closed menu. */
export type AriaHidden = "shown" | "decoration" | "unknown";

const isAriaHidden = (node: Element): boolean => property(node, "ariaHidden") === "true";

/** Elements up to a paragraph. Scripts toggle larger elements: windows, menus, slides of a carousel. */
const SMALL = new Set(
  "abbr b bdi big cite code data dd del dt em figcaption h1 h2 h3 h4 h5 h6 ins kbd label li mark p q s samp small span strong sub sup td th time u var".split(
    " ",
  ),
);
/** Classes of icons from fonts, and of formulas that are drawn beside their MathML. */
const DECORATION = /icon|glyph|symbol-|^fa[srlb]?$|^fa-|^bi$|^katex|^mjx|emoji/i;
const LETTER = /[\p{L}\p{N}]/u;

/** Maximum UTF-16 units of compared texts. */
const MAX_LENGTH = 300;

const squeezed = (text: string): string => text.replace(/\s+/g, "").toLowerCase();

/** The short texts of visible elements, without spaces. */
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

/** Whether an element has a formula among its children, with a picture beside it. */
const hasFormula = (parent: Nodes): boolean =>
  childNodes(parent).some((child) => isElement(child) && child.tagName === "math");

/** Classifies the texts of a page that screen readers skip. Compares the page's texts only if it has any. */
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
