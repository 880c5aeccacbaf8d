import { SaxesParser } from "saxes";
import { addEntities } from "./entities.ts";
import { UnreadableFile } from "../reader.ts";

/** An element with its prefixed name, `a:t`. Text has its entities resolved. */
export interface Element {
  name: string;
  attributes: Record<string, string>;
  children: (Element | string)[];
}

const MAX_DEPTH = 256;
/** Maximum elements and texts; this many take about 400 MB. */
const MAX_NODES = 2_000_000;

const invalid = (cause: Error): UnreadableFile =>
  new UnreadableFile("The file is damaged: its XML is invalid.", { cause });

/**
 * Parses XML into its root element. Fetches nothing, and replaces declared entities by limited text. Throws UnreadableFile: not well
 * formed, nested too deeply, too many elements, external or endless entities.
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
    const subset = declared.indexOf("[");
    if (subset >= 0) addEntities(parser.ENTITIES, declared.slice(subset));
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

export const childElements = (element: Element): Element[] =>
  element.children.filter((child) => typeof child !== "string");

/** The first child with that name. */
export const findChild = (element: Element | undefined, name: string): Element | undefined =>
  element && childElements(element).find((child) => child.name === name);

/** Descendants of that name in document order, without those inside another match. */
export const findAll = (element: Element, name: string): Element[] =>
  childElements(element).flatMap((child) => (child.name === name ? [child] : findAll(child, name)));

export const textContent = (element: Element): string =>
  element.children.map((child) => (typeof child === "string" ? child : textContent(child))).join("");
