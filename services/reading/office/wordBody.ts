import { childOf, type Element, elementsOf, findAll, textOf } from "../guard/xml.ts";
import { texOfOmml } from "./omml.ts";
import { rewriteParagraph, type WordContext } from "./wordParagraph.ts";
import { valueOf, type WordStyles } from "./wordStyles.ts";
import { make, run, valued } from "./wordXml.ts";

/* Word's XML, put so that the converter behind sees what it would pass over: equations, fields, text boxes, styles. */

const equation = (element: Element): Element => {
  const tex = run(texOfOmml(element));
  return { ...tex, children: [make("w:rPr", [valued("w:rStyle", "Known-run-math")]), ...tex.children] };
};

const isOn = (element: Element | undefined): boolean =>
  element !== undefined && !/^(?:0|false|off)$/.test(valueOf(element));

/** Only text boxes are taken from what newer programs draw; older ones find the same in the fallback. */
const alternate = (element: Element): Element => {
  const fallback = childOf(element, "mc:Fallback");
  if (fallback && textOf(fallback).trim() !== "") return element;
  const boxes = findAll(element, "w:txbxContent").map((box) => make("v:textbox", [box]));
  if (boxes.length === 0) return element;
  return make("mc:AlternateContent", [make("mc:Fallback", [make("w:pict", [make("v:shape", boxes)])])]);
};

const withStyle = (properties: Element | undefined, name: string, tag: string, id: string): Element => {
  const others = properties ? elementsOf(properties).filter((child) => child.name !== tag) : [];
  return make(name, [valued(tag, id), ...others]);
};

const replaceChild = (element: Element, name: string, child: Element): Element => ({
  ...element,
  children: [child, ...element.children.filter((other) => typeof other === "string" || other.name !== name)],
});

const textRun = (element: Element, styles: WordStyles): Element[] => {
  const properties = childOf(element, "w:rPr");
  if (isOn(childOf(properties, "w:vanish"))) return [];
  if (!styles.isCode(valueOf(childOf(properties, "w:rStyle")))) return [element];
  return [replaceChild(element, "w:rPr", withStyle(undefined, "w:rPr", "w:rStyle", "Known-run-code"))];
};

/** A row may begin late: the grid's columns before it are empty cells. */
const tableRow = (element: Element): Element => {
  const skipped = Number(valueOf(childOf(childOf(element, "w:trPr"), "w:gridBefore")));
  if (!(skipped > 0)) return element;
  const empty = Array.from({ length: Math.min(skipped, 64) }, () => make("w:tc", [make("w:p")]));
  return { ...element, children: [...empty, ...element.children] };
};

const rewriteOne = (element: Element, context: WordContext): Element[] => {
  switch (element.name) {
    case "w:p":
      return rewriteParagraph(element, context);
    case "w:tr":
      return [tableRow(element)];
    case "w:r":
      return textRun(element, context.styles);
    case "m:oMath":
      return [equation(element)];
    case "m:oMathPara":
    case "w:fldSimple":
    case "w:dir":
    case "w:bdo":
    case "w:ruby":
    case "w:rubyBase":
      return elementsOf(element);
    case "w:rt":
    case "w:rubyPr":
      return [];
    case "w:cr":
      return [make("w:br")];
    case "mc:AlternateContent":
      return [alternate(element)];
    default:
      return [element];
  }
};

/** The same element with everything in it rewritten. */
export const rewriteWord = (element: Element, context: WordContext): Element => {
  if (element.name === "m:oMath") return element;
  const children = element.children.flatMap((child): (Element | string)[] =>
    typeof child === "string" ? [child] : rewriteChild(child, context),
  );
  return { ...element, children };
};

const rewriteChild = (child: Element, context: WordContext): Element[] =>
  rewriteOne(rewriteWord(child, context), context);
