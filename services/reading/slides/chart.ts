import type { ElementContent } from "hast";
import { elementsOf, textOf, type Element } from "../guard/xml.ts";
import { element } from "../html/tree.ts";
import { allNamed, at, childNamed, childrenNamed } from "./names.ts";

/** Values of a row of points by their index; levels of categories above each other are joined. */
type Points = Map<number, string>;

/** A spreadsheet stores 0.1 + 0.2; nobody drew seventeen digits. */
const tidy = (value: string): string =>
  /^-?\d+\.\d{12,}(?:E-?\d+)?$/i.test(value) ? String(Number(Number(value).toPrecision(12))) : value;

const pointsOf = (source: Element | undefined): Points => {
  const points: Points = new Map();
  for (const point of allNamed(source, "pt")) {
    const index = Number(point.attributes["idx"]);
    const value = tidy(childNamed(point, "v") ? textOf(childNamed(point, "v")!) : "");
    points.set(index, points.has(index) ? `${value} ${points.get(index)}` : value);
  }
  return points;
};

const firstOf = (series: Element, names: string[]): Points =>
  pointsOf(names.map((name) => childNamed(series, name)).find(Boolean));

const nameOf = (series: Element): string => {
  const name = childNamed(series, "tx");
  const values = allNamed(name, "v").map(textOf);
  return values.join(" ");
};

const row = (cells: string[]) =>
  element(
    "tr",
    cells.map((cell) => element("td", [cell])),
  );

/** A chart's title and its values: a row for each category, a column for each series. */
export const chartOf = (root: Element): ElementContent[] => {
  const chart = childNamed(root, "chart");
  const title = allNamed(childNamed(chart, "title"), "t").map(textOf).join("").trim();
  const drawn = elementsOf(at(chart, "plotArea") ?? root).flatMap((plot) => childrenNamed(plot, "ser"));
  const series = drawn.map((one) => ({
    name: nameOf(one),
    categories: firstOf(one, ["cat", "xVal"]),
    values: firstOf(one, ["val", "yVal"]),
  }));
  const categories: Points = new Map(series.flatMap((one) => [...one.categories]));
  const indexes = new Set(series.flatMap(({ values }) => [...values.keys()]));
  const rows = [...indexes]
    .toSorted((one, other) => one - other)
    .map((index) => [
      categories.get(index) ?? String(index + 1),
      ...series.map(({ values }) => values.get(index) ?? ""),
    ]);
  const heading = title === "" ? [] : [element("p", [title])];
  if (rows.length === 0) return heading;
  return [...heading, element("table", [row(["", ...series.map(({ name }) => name)]), ...rows.map(row)])];
};
