import type { ElementContent } from "hast";
import { childElements, textContent, type Element } from "../guard/xml.ts";
import { element } from "../html/tree.ts";
import { labelledValue, readLabels, type ChartLabels } from "./chartLabels.ts";
import { descendantsNamed, findPath, childNamed, childrenNamed, localName } from "./localNames.ts";
import type { Parts } from "./parts.ts";

/** Values of points by their index; stacked category levels are joined. */
type Points = Map<number, string>;

/** Rounds values such as 0.1 + 0.2, which are stored with seventeen digits. */
const roundValue = (value: string): string =>
  /^-?\d+\.\d{12,}(?:E-?\d+)?$/i.test(value) ? String(Number(Number(value).toPrecision(12))) : value;

/** The points of a source: its innermost level first, then the levels above it. */
const readPoints = (source: Element | undefined): Points => {
  const points: Points = new Map();
  for (const point of descendantsNamed(source, "pt")) {
    const index = Number(point.attributes["idx"]);
    const value = roundValue(textContent(childNamed(point, "v") ?? point));
    points.set(index, points.has(index) ? `${value} ${points.get(index)}` : value);
  }
  return points;
};

const readFirst = (series: Element, names: string[]): Points =>
  readPoints(names.map((name) => childNamed(series, name)).find(Boolean));

const seriesName = (series: Element): string => {
  const name = childNamed(series, "tx");
  const values = descendantsNamed(name, "v").map(textContent);
  return values.join(" ");
};

export interface Chart {
  title: string;
  /** The names of the series, then a row for each category; empty without values. */
  rows: string[][];
  /** The place of the values and labels in a workbook: `Sheet1!$B$2:$B$4`. */
  sources: string[];
  /** Whether points have labels that are in no cell. */
  hasTypedLabels: boolean;
  /** Texts that are drawn on it. */
  drawn: string[];
}

interface Series {
  name: string;
  categories: Points;
  values: Points;
  labels: ChartLabels;
  sources: Element[];
}

const plainSeries = (one: Element): Series => {
  const labels = readLabels(one);
  return {
    name: seriesName(one),
    categories: readFirst(one, ["cat", "xVal"]),
    values: readFirst(one, ["val", "yVal"]),
    labels,
    sources: [...descendantsNamed(childNamed(one, "val") ?? childNamed(one, "yVal"), "f"), ...labels.sources],
  };
};

/** The series of a newer kind of chart (waterfall, funnel, histogram …), whose data are in another element. */
const extendedSeries = (root: Element): Series[] => {
  const data = new Map(childrenNamed(childNamed(root, "chartData"), "data").map((one) => [one.attributes["id"], one]));
  return descendantsNamed(findPath(root, "chart", "plotArea"), "series").map((one) => {
    const own = data.get(childNamed(one, "dataId")?.attributes["val"] ?? "");
    const numbers = childNamed(own, "numDim");
    return {
      name: seriesName(one),
      categories: readPoints(childNamed(own, "strDim")),
      values: readPoints(numbers),
      labels: readLabels(one),
      sources: descendantsNamed(numbers, "f"),
    };
  });
};

const titleOf = (owner: Element | undefined): string => {
  const title = childNamed(owner, "title");
  return [...descendantsNamed(title, "t"), ...descendantsNamed(title, "v")].map(textContent).join("").trim();
};

const AXES = new Set(["catAx", "dateAx", "serAx", "valAx", "axis"]);

/** The titles of the axes that are shown, each once. */
const axisTitles = (plotArea: Element | undefined): string[] => {
  const axes = (plotArea ? childElements(plotArea) : []).filter((one) => AXES.has(localName(one)));
  const shown = axes.filter((axis) => childNamed(axis, "delete")?.attributes["val"] !== "1");
  return [...new Set(shown.map(titleOf))].filter((title) => title !== "");
};

const drawnTexts = (drawing: Element | undefined): string[] =>
  descendantsNamed(drawing, "p")
    .map((paragraph) => descendantsNamed(paragraph, "t").map(textContent).join("").trim())
    .filter((text) => text !== "");

/** A chart's title, followed by those of its axes, its values, and its texts. */
const readChart = (root: Element, drawing: Element | undefined): Chart => {
  const chart = childNamed(root, "chart");
  const own = titleOf(chart);
  const axes = axisTitles(childNamed(chart, "plotArea")).join(", ");
  const title = own === "" || axes === "" ? own + axes : `${own} (${axes})`;
  const plotted = childElements(findPath(chart, "plotArea") ?? root).flatMap((plot) => childrenNamed(plot, "ser"));
  const series = [...plotted.map(plainSeries), ...extendedSeries(root)];
  const categories: Points = new Map(series.flatMap((one) => [...one.categories]));
  const indexes = new Set(series.flatMap(({ values, labels }) => [...values.keys(), ...labels.texts.keys()]));
  const rows = [...indexes]
    .toSorted((one, other) => one - other)
    .map((index) => {
      const name = categories.get(index) ?? String(index + 1);
      const cell = ({ values, labels }: Series): string =>
        labelledValue(values.get(index) ?? "", labels.texts.get(index) ?? "", name);
      return [name, ...series.map(cell)];
    });
  return {
    title,
    rows: rows.length === 0 ? [] : [["", ...series.map(({ name }) => name)], ...rows],
    sources: series.flatMap(({ sources }) => sources.map(textContent)),
    hasTypedLabels: series.some(({ labels }) => labels.hasTyped),
    drawn: drawnTexts(drawing),
  };
};

/** The chart in a part, with what is drawn on it; undefined if the file has no such part. */
export const openChart = (parts: Parts, name: string): Chart | undefined => {
  const root = parts.xml(name);
  return root && readChart(root, parts.xml(parts.related(name, "chartUserShapes") ?? ""));
};

const row = (cells: string[]) =>
  element(
    "tr",
    cells.map((cell) => element("td", [cell])),
  );

/** A chart's title, its values as a table (a row per category, a column per series) and the texts that are drawn on it. */
export const chartToHtml = ({ title, rows, drawn }: Chart): ElementContent[] => [
  ...(title === "" ? [] : [element("p", [title])]),
  ...(rows.length === 0 ? [] : [element("table", rows.map(row))]),
  ...drawn.map((text) => element("p", [text])),
];
