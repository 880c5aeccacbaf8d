import type { Element, Nodes, Root } from "hast";
import { eachElement, element, filterTree, hasClass, isElement, property, textContent } from "./tree.ts";

/* Footnotes in HTML are links to a later element, which links back. Markdown has its own syntax for them. */

export const NOTE_REFERENCE = "x-note-reference";
export const NOTE = "x-note";

const REFERENCE_ID = /^(?:fn-?ref|footnote-?ref|endnote-?ref|noteref|sdfootnote\d+anc|sdendnote\d+anc)/i;
const NOTE_ID = /^(?:fn|footnote|endnote|sdfootnote|sdendnote|note)/i;
const BACK_TEXT = /^[\s[(]*(?:↩\uFE0E?|↑|\^|⏎)[\])\s]*$/;

interface Page {
  parents: Map<Element, Nodes>;
  /** Elements by id, and anchors by name. */
  targets: Map<string, Element>;
  links: Element[];
}

const decodeFragment = (fragment: string): string => {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
};

const linkTarget = (node: Element): string => {
  const href = property(node, "href");
  return node.tagName === "a" && href.startsWith("#") ? decodeFragment(href.slice(1)) : "";
};

const indexPage = (root: Root): Page => {
  const page: Page = { parents: new Map(), targets: new Map(), links: [] };
  eachElement(root, (node, parent) => {
    page.parents.set(node, parent);
    for (const id of [property(node, "id"), node.tagName === "a" ? property(node, "name") : ""]) {
      if (id && !page.targets.has(id)) page.targets.set(id, node);
    }
    if (linkTarget(node)) page.links.push(node);
  });
  return page;
};

const isReference = (link: Element, parent: Nodes | undefined): boolean =>
  property(link, "role") === "doc-noteref" ||
  /\bnoteref\b/.test(property(link, "epub:type")) ||
  hasClass(link, /^(?:footnote-ref|noteref|sdfootnoteanc|sdendnoteanc)$/) ||
  REFERENCE_ID.test(property(link, "id")) ||
  (parent !== undefined && isElement(parent) && parent.tagName === "sup");

const ancestors = (page: Page, node: Element): Element[] => {
  const found: Element[] = [];
  for (let at: Nodes | undefined = node; at && isElement(at); at = page.parents.get(at)) found.push(at);
  return found;
};

/** The block of a note, from the element that its reference points to. */
const enclosingNote = (page: Page, target: Element): Element | undefined => {
  const around = ancestors(page, target);
  return (
    around.find(({ tagName }) => /^(?:li|aside|dd)$/.test(tagName)) ??
    around.find((node) => /^(?:div|p|section)$/.test(node.tagName) && NOTE_ID.test(property(node, "id"))) ??
    around.find(({ tagName }) => tagName === "p")
  );
};

interface Notes {
  numbers: Map<Element, string>;
  /** The ids that the note's links back point to. */
  references: Set<string>;
}

const pairNotes = (page: Page): Notes => {
  const notes: Notes = { numbers: new Map(), references: new Set() };
  const order = new Map([...page.parents.keys()].map((node, index) => [node, index]));
  for (const link of page.links) {
    const parent = page.parents.get(link);
    const target = page.targets.get(linkTarget(link));
    if (!target || !isReference(link, parent) || BACK_TEXT.test(textContent(link))) continue;
    const note = enclosingNote(page, target);
    // a link back from a note looks the same, but its target precedes it
    if (!note || (order.get(note) ?? 0) < (order.get(link) ?? 0)) continue;
    const number = notes.numbers.get(note) ?? String(notes.numbers.size + 1);
    notes.numbers.set(note, number);
    for (const around of ancestors(page, link).slice(0, 2)) {
      for (const id of [property(around, "id"), property(around, "name")]) if (id) notes.references.add(id);
    }
    Object.assign(link, element(NOTE_REFERENCE, [], { id: number }));
  }
  return notes;
};

const isEmptyContainer = (node: Nodes): boolean =>
  isElement(node) &&
  /^(?:ol|ul|aside|section|div)$/.test(node.tagName) &&
  textContent(node).trim() === "" &&
  node.children.every((child) => !isElement(child) || child.tagName === "hr" || isEmptyContainer(child));

/** Converts references to NOTE_REFERENCE elements, and moves their notes to the end of the tree as NOTE elements. */
export const markNotes = (root: Root): Root => {
  const { numbers, references } = pairNotes(indexPage(root));
  if (numbers.size === 0) return root;
  const isBackLink = (node: Nodes): boolean =>
    isElement(node) && node.tagName === "a" && (references.has(linkTarget(node)) || BACK_TEXT.test(textContent(node)));
  const notes = [...numbers].map(([note, id]) =>
    element(NOTE, filterTree(note, (node) => !isBackLink(node)).children, { id }),
  );
  const body = filterTree(root, (node) => !(isElement(node) && numbers.has(node)));
  return { ...body, children: [...filterTree(body, (node) => !isEmptyContainer(node)).children, ...notes] };
};
