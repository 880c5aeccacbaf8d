import { childOf, type Element, elementsOf } from "../guard/xml.ts";
import { script } from "../html/math.ts";

/* Office's equations as TeX: `\frac{a}{b}`, `x^{2}`; letters and operators stay as the signs they are. */

const part = (element: Element, name: string): string => {
  const child = childOf(element, name);
  return child ? texOfOmml(child) : "";
};

const setting = (element: Element, properties: string, name: string): string | undefined =>
  childOf(childOf(element, properties), name)?.attributes["m:val"];

const all = (element: Element): string => elementsOf(element).map(texOfOne).join("");

const bases = (element: Element): string[] =>
  elementsOf(element)
    .filter(({ name }) => name === "m:e")
    .map(all);

const rowsOf = (matrix: Element): string =>
  elementsOf(matrix)
    .filter(({ name }) => name === "m:mr")
    .map(texOfOne)
    .join(" \\\\ ");

const aligned = (lines: string[]): string =>
  lines.length > 1 ? `\\begin{aligned}${lines.join(" \\\\ ")}\\end{aligned}` : (lines[0] ?? "");

const texOfOne = (element: Element): string => {
  switch (element.name) {
    case "m:t":
    case "w:t":
      return element.children.filter((child) => typeof child === "string").join("");
    case "m:f":
      return `\\frac{${part(element, "m:num")}}{${part(element, "m:den")}}`;
    case "m:sSup":
    case "m:sSub":
    case "m:sSubSup":
    case "m:limLow":
    case "m:limUpp": {
      const low = part(element, "m:sub") + (element.name === "m:limLow" ? part(element, "m:lim") : "");
      const high = part(element, "m:sup") + (element.name === "m:limUpp" ? part(element, "m:lim") : "");
      return part(element, "m:e") + script("_", low) + script("^", high);
    }
    case "m:rad": {
      const degree = part(element, "m:deg");
      return `\\sqrt${degree === "" ? "" : `[${degree}]`}{${part(element, "m:e")}}`;
    }
    case "m:nary": {
      const sign = setting(element, "m:naryPr", "m:chr") ?? "∫";
      const limits = script("_", part(element, "m:sub")) + script("^", part(element, "m:sup"));
      return `${sign}${limits} ${part(element, "m:e")}`;
    }
    case "m:d": {
      const open = setting(element, "m:dPr", "m:begChr") ?? "(";
      const close = setting(element, "m:dPr", "m:endChr") ?? ")";
      return open + bases(element).join(setting(element, "m:dPr", "m:sepChr") ?? "|") + close;
    }
    case "m:mr":
      return bases(element).join(" & ");
    case "m:m":
      return `\\begin{matrix}${rowsOf(element)}\\end{matrix}`;
    case "m:eqArr":
      return aligned(bases(element));
    case "m:bar":
      return `\\overline{${part(element, "m:e")}}`;
    default:
      return element.name.endsWith("Pr") ? "" : all(element);
  }
};

/** An `m:oMath` as TeX. */
export const texOfOmml = (element: Element): string => all(element).trim();
