import type { Element, Nodes, Root } from "hast";
import type { Warn } from "../reader.ts";
import { warnOfCount } from "../warnings.ts";
import { openAriaHidden } from "./ariaHidden.ts";
import { isUnreadField } from "./formFields.ts";
import {
  childNodes,
  eachElement,
  filterTree,
  findElements,
  hasClass,
  isElement,
  property,
  textContent,
} from "./tree.ts";

const NEVER_TEXT = new Set(["script", "style", "template", "head", "iframe", "object", "embed", "datalist"]);
const BOILERPLATE = new Set(["nav", "noscript"]);
const BOILERPLATE_ROLES = /^(?:navigation|search|banner|contentinfo|dialog|alertdialog|menu|menubar|toolbar)$/;
const EDITING_CLASSES = /^(?:headerlink|anchor-link|mw-editsection|noprint|skip-link|skip-nav)$/;
const HIDDEN_STYLE = /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)/i;

const lengthOf = (node: Nodes): number => textContent(node).replace(/\s+/g, "").length;

/** E-book readers show hidden notes at their references. */
const isNote = (node: Element): boolean =>
  /\b(?:foot|end|rear)notes?\b/.test(`${property(node, "epub:type")} ${property(node, "role")}`);

/** Browsers reveal `until-found` content to a search, such as the closed parts of an accordion. */
const isUnseen = (node: Element): boolean =>
  (("hidden" in node.properties && property(node, "hidden") !== "until-found") ||
    HIDDEN_STYLE.test(property(node, "style"))) &&
  !isNote(node);

/** Minimum letters of a hidden part that is reported: the alternative label of a button has fewer. */
const MIN_HIDDEN_LENGTH = 20;

const isHeading = (node: Nodes): boolean => isElement(node) && /^h[1-6]$/.test(node.tagName);

const hasHeading = (node: Element): boolean => findElements(node, isHeading).length > 0;

/** A header or footer of the page itself, not of a section or article. */
const isPageEdge = (node: Element, parent: Nodes): boolean => {
  if (node.tagName !== "header" && node.tagName !== "footer") return false;
  if (isElement(parent) && /^(?:article|section|main|blockquote|figure)$/.test(parent.tagName)) return false;
  return !hasHeading(node);
};

/** A list of links, as in a header that is kept for its title. */
const isMenu = (node: Element): boolean =>
  (node.tagName === "ul" || node.tagName === "ol") &&
  lengthOf(node) > 0 &&
  findElements(node, ({ tagName }) => tagName === "a").reduce((sum, link) => sum + lengthOf(link), 0) >
    lengthOf(node) * 0.9;

const withoutMenus = (header: Element): Element =>
  filterTree(header, (node) => !(isElement(node) && (isMenu(node) || node.tagName === "input")));

/** Minimum letters of a button that labels a part, such as a question that opens its answer. Buttons of menus have fewer. */
const MIN_LABEL_LENGTH = 10;

/** Whether a button opens the part below it and is its only heading, as in many lists of questions and answers. */
const isLabel = (button: Element): boolean =>
  ("ariaExpanded" in button.properties || hasClass(button, /accordion|collapsible/i)) &&
  !("ariaHasPopup" in button.properties) &&
  lengthOf(button) >= MIN_LABEL_LENGTH;

const isButton = (node: Element, parent: Nodes): boolean =>
  node.tagName === "button" && !isHeading(parent) && !isLabel(node);

const isFurniture = (node: Element, parent: Nodes): boolean =>
  BOILERPLATE.has(node.tagName) ||
  (node.tagName === "dialog" && !("open" in node.properties)) ||
  BOILERPLATE_ROLES.test(property(node, "role")) ||
  hasClass(node, EDITING_CLASSES) ||
  isPageEdge(node, parent) ||
  isButton(node, parent);

/** The page without scripts and comments; hidden text stays. */
const withoutCode = (root: Root): Root =>
  filterTree(root, (node) => node.type !== "comment" && !(isElement(node) && NEVER_TEXT.has(node.tagName)));

type JudgeAria = ReturnType<typeof openAriaHidden>;

/** Drops navigation, hidden parts and page edges. */
const withoutBoilerplate = (root: Root, aria: JudgeAria): Root => {
  const isKept = (node: Element, parent: Nodes): boolean =>
    !isFurniture(node, parent) && !isUnseen(node) && aria(node, parent) === "shown";
  const clean = filterTree(root, (node, parent) => !isElement(node) || isKept(node, parent));
  eachElement(clean, (node) => {
    if (node.tagName === "header") node.children = withoutMenus(node).children;
  });
  return clean;
};

/** The outermost elements that satisfy `wanted`. */
const outermost = (node: Nodes, wanted: (found: Element) => boolean): Element[] =>
  childNodes(node).flatMap((child) => {
    if (!isElement(child)) return [];
    return wanted(child) ? [child] : outermost(child, wanted);
  });

/** The only `<main>`, or the only article if it is most of the page; else the whole page. */
const mainPart = (root: Root): Root => {
  const all = lengthOf(root);
  const mains = outermost(root, (node) => node.tagName === "main" || property(node, "role") === "main");
  const articles = outermost(root, (node) => node.tagName === "article");
  const isMost = (found: Element | undefined, share: number) => found && lengthOf(found) > all * share;
  if (mains.length === 1) return isMost(mains[0], 0.25) ? { type: "root", children: mains } : root;
  return articles.length === 1 && isMost(articles[0], 0.5) ? { type: "root", children: articles } : root;
};

/** The outermost hidden texts of a page, except in its navigation and edges. */
const countHiddenTexts = (root: Root, aria: JudgeAria): number => {
  let count = 0;
  const visit = (parent: Nodes): void => {
    for (const node of childNodes(parent)) {
      if (!isElement(node) || isFurniture(node, parent)) continue;
      const seen = aria(node, parent);
      if (isUnseen(node) || seen === "unknown") count += lengthOf(node) >= MIN_HIDDEN_LENGTH ? 1 : 0;
      else if (seen === "shown") visit(node);
    }
  };
  visit(root);
  return count;
};

/** A page without navigation, hidden parts, scripts and page edges, unless hardly anything would remain. Warns of hidden texts. */
export const mainContent = (root: Root, warn: Warn): Root => {
  const whole = withoutCode(root);
  const aria = openAriaHidden(whole);
  const clean = withoutBoilerplate(whole, aria);
  const length = lengthOf(clean);
  if (length < 100 && length <= lengthOf(whole) * 0.1) return whole;
  warnOfCount(warn, "hidden_text_left_out", countHiddenTexts(whole, aria));
  const main = mainPart(clean);
  warnOfCount(warn, "form_fields_left_out", findElements(main, isUnreadField).length);
  return main;
};
