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

/** Whether the values of a chart are cells of a sheet, as its table then repeats. */
const showsCells = (chart: Element): boolean => {
  const sources = findAll(chart, "chart:series").map(
    ({ attributes }) => attributes["chart:values-cell-range-address"] ?? "",
  );
  return sources.length > 0 && sources.every((source) => source !== "" && !/^'?local-table\b/.test(source));
};

/** The titles and values of a chart, which stores them as a table, and the texts at its axes and points. */
const chartToHtml = (root: Element, isOnSheet: boolean): Html[] =>
  findAll(root, "chart:chart").flatMap((chart) => [
    ...titlesOf(chart),
    ...(isOnSheet && showsCells(chart)
      ? []
      : findAll(chart, "table:table").map((table) => odtTable(table, paragraphs))),
    ...WORDED.flatMap((name) => findAll(chart, name)).flatMap(paragraphs),
  ]);

/**
 * An embedded formula as MathML, or a chart as its values, by its name; empty for anything else. `isOnSheet`: without the values that are
 * cells anyway.
 */
export const readObject = (zip: Zip, name: string, { isOnSheet = false } = {}): Html[] => {
  const part = readPart(zip, `${name.replace(/^\.\/|\/$/g, "")}/content.xml`);
  if (part === undefined) return [];
  return /^(?:math:)?math$/.test(part.name) ? [mathToHtml(part)] : chartToHtml(part, isOnSheet);
};
