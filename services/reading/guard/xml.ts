import { SaxesParser } from "saxes";
import { UnreadableFile } from "../reader.ts";

/** An element with its prefixed name, `a:t`. Text stands between elements, entities resolved. */
export interface Element {
  name: string;
  attributes: Record<string, string>;
  children: (Element | string)[];
}

const MAX_DEPTH = 256;
/** About 400 MB of elements. */
const MAX_NODES = 2_000_000;

const invalid = (cause: Error): UnreadableFile =>
  new UnreadableFile("The file is damaged: its XML is invalid.", { cause });

/**
 * Parses XML into its root element. Nothing is ever fetched, and a document type may only name itself: declarations of
 * its own are where entities grow without end. Throws UnreadableFile: not well formed, too deep, too many elements.
 */
export const parseXml = (xml: string): Element => {
  const parser = new SaxesParser({ xmlns: false });
  const top: Element = { name: "", attributes: {}, children: [] };
  const open = [top];
  let nodes = 0;
  const add = (node: Element | string): void => {
    nodes += 1;
    if (nodes > MAX_NODES) throw new UnreadableFile("The file contains too many elements.");
    open.at(-1)?.children.push(node);
  };
  parser.on("error", (error) => {
    throw invalid(error);
  });
  parser.on("doctype", (declared) => {
    if (declared.includes("[")) throw new UnreadableFile("The file declares entities, which is not allowed.");
  });
  parser.on("opentag", ({ name, attributes }) => {
    const element = { name, attributes, children: [] };
    add(element);
    open.push(element);
    if (open.length > MAX_DEPTH) throw new UnreadableFile("The file is nested too deeply.");
  });
  parser.on("closetag", () => void open.pop());
  parser.on("text", add);
  parser.on("cdata", add);
  parser.write(xml.replace(/^\uFEFF/, "")).close();
  const root = top.children.find((child) => typeof child !== "string");
  if (!root) throw new UnreadableFile("The file is damaged: it contains no XML.");
  return root;
};

export const elementsOf = (element: Element): Element[] =>
  element.children.filter((child) => typeof child !== "string");

/** The first child of that name. */
export const childOf = (element: Element | undefined, name: string): Element | undefined =>
  element && elementsOf(element).find((child) => child.name === name);

/** Every descendant of that name, in document order; inside a match it is not looked further. */
export const findAll = (element: Element, name: string): Element[] =>
  elementsOf(element).flatMap((child) => (child.name === name ? [child] : findAll(child, name)));

export const textOf = (element: Element): string =>
  element.children.map((child) => (typeof child === "string" ? child : textOf(child))).join("");
