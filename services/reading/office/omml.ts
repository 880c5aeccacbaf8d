import { childOf, type Element, elementsOf } from "../guard/xml.ts";
import { group } from "../html/math.ts";

/* Office's equations on one line: `a/b`, `x^2`, `sum_(i=1)^n(x_i)`. */

const part = (element: Element, name: string): string => {
  const child = childOf(element, name);
  return child ? linearOmml(child) : "";
};

const setting = (element: Element, properties: string, name: string): string | undefined =>
  childOf(childOf(element, properties), name)?.attributes["m:val"];

const script = (mark: string, text: string): string => (text === "" ? "" : `${mark}${group(text)}`);

const all = (element: Element): string => elementsOf(element).map(linearOne).join("");

const linearOne = (element: Element): string => {
  switch (element.name) {
    case "m:t":
    case "w:t":
      return element.children.filter((child) => typeof child === "string").join("");
    case "m:f":
      return `${group(part(element, "m:num"))}/${group(part(element, "m:den"))}`;
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
      return degree === "" ? `sqrt(${part(element, "m:e")})` : `root(${degree}, ${part(element, "m:e")})`;
    }
    case "m:nary": {
      const sign = setting(element, "m:naryPr", "m:chr") ?? "∫";
      const limits = script("_", part(element, "m:sub")) + script("^", part(element, "m:sup"));
      return `${sign}${limits} ${part(element, "m:e")}`;
    }
    case "m:d": {
      const open = setting(element, "m:dPr", "m:begChr") ?? "(";
      const close = setting(element, "m:dPr", "m:endChr") ?? ")";
      const parts = elementsOf(element).filter(({ name }) => name === "m:e");
      return open + parts.map(all).join(setting(element, "m:dPr", "m:sepChr") ?? "|") + close;
    }
    case "m:mr":
    case "m:eqArr":
      return `${elementsOf(element)
        .filter(({ name }) => name === "m:e")
        .map(all)
        .join(", ")}; `;
    default:
      return element.name.endsWith("Pr") ? "" : all(element);
  }
};

/** An `m:oMath` as text on one line. */
export const linearOmml = (element: Element): string => all(element).trim();
