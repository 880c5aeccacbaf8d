import { findChild, type Element, childElements } from "../guard/xml.ts";
import { script } from "../html/mathToTex.ts";

/* Converts Office's equations to TeX: `\frac{a}{b}`, `x^{2}`. Letters and operators stay as they are. */

const childTex = (element: Element, name: string): string => {
  const child = findChild(element, name);
  return child ? ommlToTex(child) : "";
};

const setting = (element: Element, properties: string, name: string): string | undefined =>
  findChild(findChild(element, properties), name)?.attributes["m:val"];

const childrenTex = (element: Element): string => childElements(element).map(toTex).join("");

const bases = (element: Element): string[] =>
  childElements(element)
    .filter(({ name }) => name === "m:e")
    .map(childrenTex);

const matrixRows = (matrix: Element): string =>
  childElements(matrix)
    .filter(({ name }) => name === "m:mr")
    .map(toTex)
    .join(" \\\\ ");

const aligned = (lines: string[]): string =>
  lines.length > 1 ? `\\begin{aligned}${lines.join(" \\\\ ")}\\end{aligned}` : (lines[0] ?? "");

/** The usual accent, combined with the letter before it. */
const CIRCUMFLEX = "\u0302";

const toTex = (element: Element): string => {
  switch (element.name) {
    case "m:t":
    case "w:t":
      return element.children.filter((child) => typeof child === "string").join("");
    case "m:f":
      return `\\frac{${childTex(element, "m:num")}}{${childTex(element, "m:den")}}`;
    case "m:sSup":
    case "m:sSub":
    case "m:sSubSup":
    case "m:limLow":
    case "m:limUpp": {
      const low = childTex(element, "m:sub") + (element.name === "m:limLow" ? childTex(element, "m:lim") : "");
      const high = childTex(element, "m:sup") + (element.name === "m:limUpp" ? childTex(element, "m:lim") : "");
      return childTex(element, "m:e") + script("_", low) + script("^", high);
    }
    case "m:sPre": {
      const scripts = script("_", childTex(element, "m:sub")) + script("^", childTex(element, "m:sup"));
      return `{}${scripts}${childTex(element, "m:e")}`;
    }
    case "m:func":
      return `${childTex(element, "m:fName")} ${childTex(element, "m:e")}`;
    case "m:acc":
      return childTex(element, "m:e") + (setting(element, "m:accPr", "m:chr") ?? CIRCUMFLEX);
    case "m:rad": {
      const degree = childTex(element, "m:deg");
      return `\\sqrt${degree === "" ? "" : `[${degree}]`}{${childTex(element, "m:e")}}`;
    }
    case "m:nary": {
      const operator = setting(element, "m:naryPr", "m:chr") ?? "∫";
      const limits = script("_", childTex(element, "m:sub")) + script("^", childTex(element, "m:sup"));
      return `${operator}${limits} ${childTex(element, "m:e")}`;
    }
    case "m:d": {
      const open = setting(element, "m:dPr", "m:begChr") ?? "(";
      const close = setting(element, "m:dPr", "m:endChr") ?? ")";
      return open + bases(element).join(setting(element, "m:dPr", "m:sepChr") ?? "|") + close;
    }
    case "m:mr":
      return bases(element).join(" & ");
    case "m:m":
      return `\\begin{matrix}${matrixRows(element)}\\end{matrix}`;
    case "m:eqArr":
      return aligned(bases(element));
    case "m:bar":
      return `\\overline{${childTex(element, "m:e")}}`;
    default:
      return element.name.endsWith("Pr") ? "" : childrenTex(element);
  }
};

/** An `m:oMath` as TeX. */
export const ommlToTex = (element: Element): string => childrenTex(element).trim();
