import type { Element as Html, ElementContent } from "hast";
import { openDocument } from "../guard/openDocument.ts";
import { findChild, type Element, childElements } from "../guard/xml.ts";
import type { Zip } from "../guard/zip.ts";
import { toMarkdown } from "../html/toMarkdown.ts";
import { element } from "../html/tree.ts";
import { joinBlocks } from "./joinBlocks.ts";
import { type OdtContext, odtNode } from "./odtBody.ts";
import { readOdtStyles } from "./odtStyles.ts";
import { readPart, requirePart } from "./xmlParts.ts";

/** MathML, with or without a prefix, as HTML elements. */
const toHtml = (node: Element): Html =>
  element(
    node.name.replace(/^math:/, ""),
    node.children.map((child) => (typeof child === "string" ? child : toHtml(child))),
    { encoding: node.attributes["encoding"], display: node.attributes["display"] },
  );

const readFormula = (zip: Zip, name: string): Html | undefined => {
  const part = readPart(zip, `${name.replace(/^\.\/|\/$/g, "")}/content.xml`);
  return part && /^(?:math:)?math$/.test(part.name) ? toHtml(part) : undefined;
};

/** Reads an OpenDocument text: one Markdown text without pages. Throws UnreadableFile. */
export const readOdt = async (bytes: Uint8Array): Promise<string[]> => {
  const zip = openDocument(bytes);
  const content = requirePart(zip, "content.xml");
  const styles = readPart(zip, "styles.xml");
  const context: OdtContext = {
    styles: readOdtStyles(styles ? [styles, content] : [content]),
    notes: [],
    formula: (name) => readFormula(zip, name),
  };
  const text = findChild(findChild(content, "office:body"), "office:text");
  const blocks = text ? childElements(text).flatMap((node) => odtNode(node, context)) : [];
  const children: ElementContent[] = [...joinBlocks(blocks), ...context.notes];
  return [toMarkdown({ type: "root", children })];
};
