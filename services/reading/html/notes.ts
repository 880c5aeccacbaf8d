import type { Element, Nodes, Root } from "hast";
import { eachElement, element, filterTree, hasClass, isElement, property, textOf } from "./tree.ts";

/* Footnotes are links to a place further down, which links back. Markdown has a form of its own for them. */

export const NOTE_REFERENCE = "x-note-reference";
export const NOTE = "x-note";

const REFERENCE_ID = /^(?:fn-?ref|footnote-?ref|endnote-?ref|noteref|sdfootnote\d+anc|sdendnote\d+anc)/i;
const NOTE_ID = /^(?:fn|footnote|endnote|sdfootnote|sdendnote|note)/i;
const BACK_TEXT = /^[\s[(]*(?:↩\uFE0E?|↑|\^|⏎)[\])\s]*$/;

interface Page {
  parents: Map<Element, Nodes>;
  /** Elements by id, and anchors by name. */
  places: Map<string, Element>;
  links: Element[];
}

const decode = (fragment: string): string => {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
};

const targetOf = (node: Element): string => {
  const href = property(node, "href");
  return node.tagName === "a" && href.startsWith("#") ? decode(href.slice(1)) : "";
};

const survey = (root: Root): Page => {
  const page: Page = { parents: new Map(), places: new Map(), links: [] };
  eachElement(root, (node, parent) => {
    page.parents.set(node, parent);
    for (const id of [property(node, "id"), node.tagName === "a" ? property(node, "name") : ""]) {
      if (id && !page.places.has(id)) page.places.set(id, node);
    }
    if (targetOf(node)) page.links.push(node);
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

/** The block that an id inside it, or on it, stands for. */
const noteAround = (page: Page, place: Element): Element | undefined => {
  const around = ancestors(page, place);
  return (
    around.find(({ tagName }) => /^(?:li|aside|dd)$/.test(tagName)) ??
    around.find((node) => /^(?:div|p|section)$/.test(node.tagName) && NOTE_ID.test(property(node, "id"))) ??
    around.find(({ tagName }) => tagName === "p")
  );
};

interface Notes {
  numbers: Map<Element, string>;
  /** What links back from a note point to. */
  references: Set<string>;
}

const pairUp = (page: Page): Notes => {
  const notes: Notes = { numbers: new Map(), references: new Set() };
  const order = new Map([...page.parents.keys()].map((node, index) => [node, index]));
  for (const link of page.links) {
    const parent = page.parents.get(link);
    const place = page.places.get(targetOf(link));
    if (!place || !isReference(link, parent) || BACK_TEXT.test(textOf(link))) continue;
    const note = noteAround(page, place);
    // Links back from a note look the same, but what they point to stands before them.
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

const isEmptied = (node: Nodes): boolean =>
  isElement(node) &&
  /^(?:ol|ul|aside|section|div)$/.test(node.tagName) &&
  textOf(node).trim() === "" &&
  node.children.every((child) => !isElement(child) || child.tagName === "hr" || isEmptied(child));

/** Turns references into NOTE_REFERENCE elements, and moves their notes, as NOTE elements, to the end of the tree. */
export const markNotes = (root: Root): Root => {
  const { numbers, references } = pairUp(survey(root));
  if (numbers.size === 0) return root;
  const leadsBack = (node: Nodes): boolean =>
    isElement(node) && node.tagName === "a" && (references.has(targetOf(node)) || BACK_TEXT.test(textOf(node)));
  const notes = [...numbers].map(([note, id]) =>
    element(NOTE, filterTree(note, (node) => !leadsBack(node)).children, { id }),
  );
  const body = filterTree(root, (node) => !(isElement(node) && numbers.has(node)));
  return { ...body, children: [...filterTree(body, (node) => !isEmptied(node)).children, ...notes] };
};
