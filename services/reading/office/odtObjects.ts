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
    { ...node.attributes },
  );

const paragraphs = (node: Element): Html[] => findAll(node, "text:p").map((one) => element("p", [textContent(one)]));

const TITLES = new Set(["chart:title", "chart:subtitle"]);
/** The titles of axes, and typed labels of points. */
const WORDED = ["chart:axis", "chart:data-label"];

const titlesOf = (chart: Element): Html[] =>
  childElements(chart)
    .filter(({ name }) => TITLES.has(name))
    .flatMap(paragraphs);

/** The titles and values of a chart, which stores them as a table, and the texts at its axes and points. */
const chartToHtml = (root: Element): Html[] =>
  findAll(root, "chart:chart").flatMap((chart) => [
    ...titlesOf(chart),
    ...findAll(chart, "table:table").map((table) => odtTable(table, paragraphs)),
    ...WORDED.flatMap((name) => findAll(chart, name)).flatMap(paragraphs),
  ]);

/** An embedded formula as MathML, or a chart as its values, by its name; empty for anything else. */
export const readObject = (zip: Zip, name: string): Html[] => {
  const part = readPart(zip, `${name.replace(/^\.\/|\/$/g, "")}/content.xml`);
  if (part === undefined) return [];
  return /^(?:math:)?math$/.test(part.name) ? [mathToHtml(part)] : chartToHtml(part);
};
