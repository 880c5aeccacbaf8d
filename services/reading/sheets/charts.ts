import { openZip } from "../guard/zip.ts";
import { toMarkdown } from "../html/toMarkdown.ts";
import { chartToHtml } from "../slides/chart.ts";
import { findPath, childrenNamed, reference } from "../slides/localNames.ts";
import { openParts, type Parts } from "../slides/parts.ts";

const findCharts = (parts: Parts, sheet: string): string[] => {
  const drawing = parts.related(sheet, "drawing");
  if (drawing === undefined) return [];
  const relations = [...parts.relations(drawing).values()];
  return relations.filter(({ kind }) => kind === "chart").map(({ target }) => target);
};

const chartsMarkdown = (parts: Parts, charts: string[]): string => {
  const content = charts.map((name) => parts.xml(name)).flatMap((chart) => (chart ? chartToHtml(chart) : []));
  return toMarkdown({ type: "root", children: content });
};

/** Gives the titles and values of the charts on a sheet of an XLSX, by the sheet's name; "" without charts. */
export const openCharts = (bytes: Uint8Array): ((sheet: string) => string) => {
  const parts = openParts(openZip(bytes));
  const name = parts.related("", "officeDocument") ?? "xl/workbook.xml";
  const relations = parts.relations(name);
  const sheets = childrenNamed(findPath(parts.xml(name), "sheets"), "sheet");
  return (wanted) => {
    const sheet = sheets.find(({ attributes }) => attributes["name"] === wanted);
    const relation = sheet && relations.get(reference(sheet, "id"));
    return relation ? chartsMarkdown(parts, findCharts(parts, relation.target)) : "";
  };
};
