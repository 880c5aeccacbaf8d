import { openZip } from "../guard/zip.ts";
import { toMarkdown } from "../html/toMarkdown.ts";
import { chartOf } from "../slides/chart.ts";
import { at, childrenNamed, reference } from "../slides/names.ts";
import { openParts, type Parts } from "../slides/parts.ts";

const chartsOn = (parts: Parts, sheet: string): string[] => {
  const drawing = parts.related(sheet, "drawing");
  if (drawing === undefined) return [];
  const relations = [...parts.relations(drawing).values()];
  return relations.filter(({ kind }) => kind === "chart").map(({ target }) => target);
};

const markdownOf = (parts: Parts, charts: string[]): string => {
  const content = charts.map((name) => parts.xml(name)).flatMap((chart) => (chart ? chartOf(chart) : []));
  return toMarkdown({ type: "root", children: content });
};

/** The charts of an XLSX's sheets by the sheet's name: their titles and values; empty where there are none. */
export const openCharts = (bytes: Uint8Array): ((sheet: string) => string) => {
  const parts = openParts(openZip(bytes));
  const name = parts.related("", "officeDocument") ?? "xl/workbook.xml";
  const relations = parts.relations(name);
  const sheets = childrenNamed(at(parts.xml(name), "sheets"), "sheet");
  return (wanted) => {
    const sheet = sheets.find(({ attributes }) => attributes["name"] === wanted);
    const relation = sheet && relations.get(reference(sheet, "id"));
    return relation ? markdownOf(parts, chartsOn(parts, relation.target)) : "";
  };
};
