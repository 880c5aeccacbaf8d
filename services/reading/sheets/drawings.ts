import type { ElementContent } from "hast";
import { childElements, textContent, type Element } from "../guard/xml.ts";
import type { Zip } from "../guard/zip.ts";
import { toMarkdown } from "../html/toMarkdown.ts";
import { element } from "../html/tree.ts";
import { controlText, countLists, readControls, type Control } from "./controls.ts";
import { chartToHtml, openChart, type Chart } from "../slides/chart.ts";
import { childNamed, descendantsNamed, findPath, localName, reference } from "../slides/localNames.ts";
import { nestLists } from "../slides/nestLists.ts";
import { diagramToHtml } from "../slides/diagram.ts";
import { readParagraphs } from "../slides/paragraphs.ts";
import type { Parts, Relation } from "../slides/parts.ts";
import { description } from "../slides/shapes.ts";
import type { Warn } from "../reader.ts";
import { warnOfCount } from "../warnings.ts";
import type { WorkbookParts } from "./workbookParts.ts";

type Relations = ReadonlyMap<string, Relation>;

const sheetOf = (source: string): string =>
  source.slice(0, source.lastIndexOf("!")).replace(/^'|'$/g, "").replaceAll("''", "'");

/** The values of a chart repeat the cells of its sheet, so only its title and typed labels are read. */
const withoutRepeated = (chart: Chart, sheet: string): Chart => {
  const isRepeated =
    !chart.hasTypedLabels && chart.sources.length > 0 && chart.sources.every((source) => sheetOf(source) === sheet);
  return isRepeated ? { ...chart, rows: [] } : chart;
};

/** The shapes of a drawing, without fallbacks: these repeat the content, or say that it cannot be shown. */
const shapesIn = (node: Element | undefined): Element[] =>
  (node ? childElements(node) : []).flatMap((child) => {
    if (localName(child) === "Fallback") return [];
    return localName(child) === "sp" ? [child] : shapesIn(child);
  });

const oneLine = (shape: Element): string =>
  descendantsNamed(shape, "t").map(textContent).join("").replace(/\s+/g, " ").trim();

/** Newer programs draw the label of a control once more as a shape. */
const textBoxes = (drawing: Element | undefined, relations: Relations, controls: Control[]): ElementContent[] => {
  const labels = new Set(controls.map(({ label }) => label));
  return shapesIn(drawing)
    .filter((shape) => !labels.has(oneLine(shape)))
    .flatMap((shape) => {
      const paragraphs = readParagraphs(childNamed(shape, "txBody"), relations, []);
      return paragraphs.length > 0 ? nestLists(paragraphs) : description(shape, "nvSpPr");
    });
};

/** The descriptions of groups of shapes and of connecting lines, also of those in other groups. */
const groups = (node: Element | undefined): ElementContent[] =>
  (node ? childElements(node) : []).flatMap((child) => {
    if (localName(child) === "Fallback") return [];
    if (localName(child) === "cxnSp") return description(child, "nvCxnSpPr");
    return [...(localName(child) === "grpSp" ? description(child, "nvGrpSpPr") : []), ...groups(child)];
  });

/** The descriptions of pictures. Adds the parts of the pictures that have one to `described`. */
const pictures = (drawing: Element | undefined, relations: Relations, described: Set<string>): ElementContent[] =>
  descendantsNamed(drawing, "pic").flatMap((picture) => {
    const text = description(picture, "nvPicPr");
    const blip = text.length > 0 ? findPath(picture, "blipFill", "blip") : undefined;
    if (blip) described.add(relations.get(reference(blip, "embed"))?.target ?? "");
    return text;
  });

/** The controls on a sheet. Warns of lists. */
const controlsOf = (zip: Zip, relations: Relations, warn: Warn): Control[] =>
  [...relations.values()].flatMap(({ kind, target }) => {
    const vml = kind === "vmlDrawing" ? (zip.text(target) ?? "") : "";
    warnOfCount(warn, "form_fields_left_out", countLists(vml));
    return readControls(vml);
  });

/** The boxes of SmartArt graphics, as lists. */
const diagrams = (parts: Parts, relations: Relations): ElementContent[] =>
  [...relations.values()].flatMap(({ kind, target }) =>
    kind === "diagramData" ? diagramToHtml(parts.xml(target), relations) : [],
  );

/** Relations to charts, of the older and of the newer kind. */
const CHARTS = new Set(["chart", "chartEx"]);

const charts = (parts: Parts, relations: Relations): Chart[] =>
  [...relations.values()].flatMap(({ kind, target }) => {
    const chart = CHARTS.has(kind) ? openChart(parts, target) : undefined;
    return chart ? [chart] : [];
  });

/**
 * Gives what is drawn on a sheet of an XLSX, by the sheet's name: text boxes, descriptions of pictures, controls, charts with their
 * values; "" without any. Adds the parts of pictures that have a description to `described`.
 */
export const openDrawings = (
  zip: Zip,
  parts: WorkbookParts,
  { warn, described }: { warn: Warn; described: Set<string> },
): ((sheet: string) => string) => {
  return (wanted) => {
    const sheet = parts.sheetPart(wanted);
    if (sheet === undefined) return "";
    const controls = controlsOf(zip, parts.relations(sheet), warn);
    const drawing = parts.related(sheet, "drawing") ?? "";
    const drawn = parts.relations(drawing);
    return toMarkdown({
      type: "root",
      children: [
        ...textBoxes(parts.xml(drawing), drawn, controls),
        ...groups(parts.xml(drawing)),
        ...pictures(parts.xml(drawing), drawn, described),
        ...controls.map((control) => element("p", [controlText(control)])),
        ...diagrams(parts, drawn),
        ...charts(parts, drawn).flatMap((chart) => chartToHtml(withoutRepeated(chart, wanted))),
      ],
    });
  };
};
