import type { Element as Html } from "hast";
import { childElements, findAll, textContent, type Element } from "../guard/xml.ts";
import type { Zip } from "../guard/zip.ts";
import { element } from "../html/tree.ts";
import { odtTable } from "./odtTable.ts";
import { readPart } from "./xmlParts.ts";

/** MathML, with or without a prefix, as HTML elements. */
const mathToHtml = (node: Element): Html =>
  element(
    node.name.replace(/^math:/, ""),
    node.children.map((child) => (typeof child === "string" ? child : mathToHtml(child))),
    { encoding: node.attributes["encoding"], display: node.attributes["display"] },
  );

const paragraphs = (node: Element): Html[] => findAll(node, "text:p").map((one) => element("p", [textContent(one)]));

/** A chart's title and its values, which it keeps as a table. */
const chartToHtml = (root: Element): Html[] =>
  findAll(root, "chart:chart").flatMap((chart) => [
    ...childElements(chart)
      .filter(({ name }) => name === "chart:title")
      .flatMap(paragraphs),
    ...findAll(chart, "table:table").map((table) => odtTable(table, paragraphs)),
  ]);

/** An embedded formula as MathML, or a chart as its values, by its name; empty for anything else. */
export const readObject = (zip: Zip, name: string): Html[] => {
  const part = readPart(zip, `${name.replace(/^\.\/|\/$/g, "")}/content.xml`);
  if (part === undefined) return [];
  return /^(?:math:)?math$/.test(part.name) ? [mathToHtml(part)] : chartToHtml(part);
};
