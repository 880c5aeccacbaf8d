import { childElements, textContent, type Element } from "../guard/xml.ts";
import { childNamed, childrenNamed, descendantsNamed, findPath, localName } from "./localNames.ts";

/* Labels of the points of a series: typed, from a cell, or from a range of cells. Those that show the point's value say nothing new. */

export interface ChartLabels {
  /** By the index of the point. */
  texts: ReadonlyMap<number, string>;
  /** Whether some are typed, and so are in no cell. */
  hasTyped: boolean;
  /** The place of the others in a workbook. */
  sources: Element[];
}

const isShown = (node: Element | undefined): boolean =>
  node !== undefined && !/^(?:0|false)$/.test(node.attributes["val"] ?? "");

const pointsOf = (cache: Element | undefined): Map<number, string> =>
  new Map(
    descendantsNamed(cache, "pt").map((point) => [
      Number(point.attributes["idx"]),
      textContent(childNamed(point, "v") ?? point).trim(),
    ]),
  );

/** A typed text. Its fields repeat the point's name and value, except the one with the text of a cell. */
const richText = (node: Element, fromCell: string): string => {
  if (localName(node) === "fld") return node.attributes["type"] === "CELLRANGE" ? fromCell : "";
  if (localName(node) === "t") return textContent(node);
  return childElements(node)
    .map((child) => richText(child, fromCell))
    .join(localName(node) === "rich" ? " " : "");
};

/** Removes the separators that remain at the edges of a label whose fields are not read. */
const withoutSeparators = (text: string): string => {
  const line = text.replace(/\s+/g, " ").replace(/^[\s;,:]+/, "");
  let end = line.length;
  while (end > 0 && " ;,:".includes(line[end - 1]!)) end -= 1;
  return line.slice(0, end);
};

const hasTypedText = (rich: Element | undefined): boolean =>
  rich !== undefined && /[\p{L}\p{N}]/u.test(richText(rich, ""));

/** The labels of a series that are more than its values. */
export const readLabels = (series: Element): ChartLabels => {
  const range = descendantsNamed(childNamed(series, "extLst"), "datalabelsRange")[0];
  const cells = pointsOf(range);
  const labels = childNamed(series, "dLbls");
  const showsCells = (owner: Element | undefined): boolean =>
    isShown(descendantsNamed(childNamed(owner, "extLst"), "showDataLabelsRange")[0]);
  const texts = new Map(showsCells(labels) ? cells : []);
  const own = childrenNamed(labels, "dLbl");
  for (const label of own) {
    const index = Number(childNamed(label, "idx")?.attributes["val"]);
    const text = childNamed(label, "tx");
    const rich = childNamed(text, "rich");
    const linked = [...pointsOf(text).values()].join(" ");
    const shown = rich ? richText(rich, cells.get(index) ?? "") : linked || (showsCells(label) ? cells.get(index) : "");
    if (isShown(childNamed(label, "delete"))) texts.delete(index);
    else if (shown) texts.set(index, shown);
  }
  return {
    texts: new Map([...texts].map(([index, text]) => [index, withoutSeparators(text)])),
    hasTyped: own.some((label) => hasTypedText(findPath(label, "tx", "rich"))),
    sources:
      texts.size === 0
        ? []
        : [range, ...own.map((label) => childNamed(label, "tx"))].flatMap((one) => descendantsNamed(one, "f")),
  };
};

/** The value of a point with its label behind it, unless that is the value or the point's name. */
export const labelledValue = (value: string, label: string, name: string): string => {
  if (label === "" || label === value || label === name) return value;
  return value === "" ? label : `${value} (${label})`;
};
