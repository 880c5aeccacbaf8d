import { findChild, type Element, childElements } from "../guard/xml.ts";
import { chunkBookmark } from "./altChunks.ts";
import { cleanDescription } from "./descriptions.ts";
import { ommlToTex } from "./omml.ts";
import { findGraphics, rewriteAlternatives, rewriteDrawing } from "./wordDrawings.ts";
import { joinDropCaps } from "./wordDropCaps.ts";
import { showFields, simpleField } from "./wordFields.ts";
import { rewriteParagraph, type WordContext } from "./wordParagraph.ts";
import { rewriteRuby } from "./wordRuby.ts";
import { describeShapes } from "./wordShapes.ts";
import { isOn, wordValue, type WordStyles } from "./wordStyles.ts";
import { markSymbols, rewriteSymbol } from "./wordSymbols.ts";
import { makeElement, makeRun, makeValue } from "./wordXml.ts";

/* Rewrites Word's XML so that the converter does not miss equations, fields, text boxes and styles. */

const equation = (element: Element): Element => {
  const tex = makeRun(ommlToTex(element));
  return { ...tex, children: [makeElement("w:rPr", [makeValue("w:rStyle", "Known-run-math")]), ...tex.children] };
};

/** The properties of a picture, whose description the converter reads. */
const pictureProperties = (element: Element): Element => ({
  ...element,
  attributes: { ...element.attributes, descr: cleanDescription(element.attributes["descr"]) },
});

const withStyle = (properties: Element | undefined, name: string, tag: string, id: string): Element => {
  const others = properties ? childElements(properties).filter((child) => child.name !== tag) : [];
  return makeElement(name, [makeValue(tag, id), ...others]);
};

const replaceChild = (element: Element, name: string, child: Element): Element => ({
  ...element,
  children: [child, ...element.children.filter((other) => typeof other === "string" || other.name !== name)],
});

/** The choice of a drop-down field of older forms, which is not stored as text. */
const chosenEntry = (element: Element): Element[] => {
  const list = findChild(findChild(findChild(element, "w:fldChar"), "w:ffData"), "w:ddList");
  if (!list) return [];
  const entries = childElements(list).filter(({ name }) => name === "w:listEntry");
  const chosen = wordValue(findChild(list, "w:result") ?? findChild(list, "w:default")) || "0";
  return [makeRun(wordValue(entries[Number(chosen)]))];
};

const textRun = (element: Element, styles: WordStyles): Element[] => {
  const chosen = chosenEntry(element);
  if (chosen.length > 0) return [element, ...chosen];
  const properties = findChild(element, "w:rPr");
  if (isOn(findChild(properties, "w:vanish"))) return [];
  if (!styles.isCode(wordValue(findChild(properties, "w:rStyle")))) return [element];
  return [replaceChild(element, "w:rPr", withStyle(undefined, "w:rPr", "w:rStyle", "Known-run-code"))];
};

/** A row may skip columns of the grid, which become empty cells. */
const tableRow = (element: Element): Element => {
  const skipped = Number(wordValue(findChild(findChild(element, "w:trPr"), "w:gridBefore")));
  if (!(skipped > 0)) return element;
  const empty = Array.from({ length: Math.min(skipped, 64) }, () => makeElement("w:tc", [makeElement("w:p")]));
  return { ...element, children: [...empty, ...element.children] };
};

const paragraph = (text: string): Element => makeElement("w:p", [makeRun(text)]);

const table = (rows: readonly string[][]): Element =>
  makeElement(
    "w:tbl",
    rows.map((cells) =>
      makeElement(
        "w:tr",
        cells.map((cell) => makeElement("w:tc", [paragraph(cell)])),
      ),
    ),
  );

/** The titles and values of the charts in a paragraph, and the texts of its SmartArt graphics, placed after the paragraph. */
const graphicsIn = (element: Element, { chart, diagram }: WordContext): Element[] =>
  findGraphics(element).flatMap((node) => {
    if (node.name === "dgm:relIds") return diagram(node.attributes["r:dm"] ?? "").map(paragraph);
    const found = chart(node.attributes["r:id"] ?? "");
    if (!found) return [];
    const { title, rows, drawn } = found;
    const values = rows.length === 0 ? [] : [table(rows)];
    return [...(title === "" ? [] : [paragraph(title)]), ...values, ...drawn.map(paragraph)];
  });

/** A mark at the position of an embedded part. */
const chunkPlace = (element: Element, { chunk }: WordContext): Element[] => {
  const target = chunk(element.attributes["r:id"] ?? "");
  if (target === undefined) return [];
  return [makeElement("w:p", [makeElement("w:bookmarkStart", [], { "w:name": chunkBookmark(target) })])];
};

/** A link or picture without references to missing parts, because the converter fails at them. */
const withoutMissing = (element: Element, { hasRelation }: WordContext): Element => {
  const kept = Object.entries(element.attributes).filter(([name, id]) => !name.startsWith("r:") || hasRelation(id));
  return { ...element, attributes: Object.fromEntries(kept) };
};

const rewriteElement = (element: Element, context: WordContext): Element[] => {
  switch (element.name) {
    case "w:p":
      return [...rewriteParagraph(showFields(element), context), ...graphicsIn(element, context)];
    case "w:tr":
      return [tableRow(element)];
    case "w:r":
      return textRun(markSymbols(element), context.styles);
    case "w:sym":
      return rewriteSymbol(element);
    case "m:oMath":
      return [equation(element)];
    case "w:fldSimple":
      return simpleField(element);
    case "m:oMathPara":
    case "w:dir":
    case "w:bdo":
      return childElements(element);
    case "w:ruby":
      return rewriteRuby(element);
    case "w:br":
    case "w:cr":
      return [makeElement("w:br")];
    case "w:ptab":
      return [makeElement("w:tab")];
    case "w:hyperlink":
    case "v:imagedata":
    case "a:blip":
      return [withoutMissing(element, context)];
    case "w:altChunk":
      return chunkPlace(element, context);
    case "v:textpath":
      return [
        makeElement("v:textbox", [makeElement("w:txbxContent", [paragraph(element.attributes["string"] ?? "")])]),
      ];
    case "v:oval":
    case "v:line":
    case "v:polyline":
    case "v:arc":
    case "v:curve":
      return [{ ...element, name: "v:shape" }];
    case "mc:AlternateContent":
      return [rewriteAlternatives(element)];
    case "w:drawing":
      return [rewriteDrawing(element)];
    case "w:pict":
    case "w:object":
      return [describeShapes(element)];
    case "wp:docPr":
      return [pictureProperties(element)];
    default:
      return [element];
  }
};

type Node = Element | string;

const isNamed = (node: Node, ...names: string[]): boolean => typeof node === "object" && names.includes(node.name);

/** The children without bookmarks between rows or cells: the converter forgets which cells are merged in a table with one. */
const withoutRowBookmarks = (children: Node[]): Node[] => {
  const isBookmark = (node: Node): boolean => isNamed(node, "w:bookmarkStart");
  if (!children.some(isBookmark) || !children.some((node) => isNamed(node, "w:tr", "w:tc"))) return children;
  return children.filter((node) => !isBookmark(node));
};

/** Rewrites all descendants of an element. */
export const rewriteWord = (element: Element, context: WordContext): Element => {
  if (element.name === "m:oMath") return element;
  const children = joinDropCaps(withoutRowBookmarks(element.children)).flatMap((child): (Element | string)[] =>
    typeof child === "string" ? [child] : rewriteChild(child, context),
  );
  return { ...element, children };
};

const rewriteChild = (child: Element, context: WordContext): Element[] =>
  rewriteElement(rewriteWord(child, context), context);
