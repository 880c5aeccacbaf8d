import type { Element } from "hast";
import { isElement, property, textContent } from "./tree.ts";

/** A subscript or superscript; "" for an empty one. */
export const script = (mark: "_" | "^", tex: string): string => (tex === "" ? "" : `${mark}{${tex}}`);

/** An older element, whose brackets and separators are attributes: by default round brackets and commas. */
const fenced = (node: Element, parts: string[]): string => {
  const sign = (name: string, usual: string): string => {
    const value = node.properties[name];
    if (value === undefined) return usual;
    // an empty `open` is a truth value in HTML
    return value === true ? "" : property(node, name).trim();
  };
  return sign("open", "(") + parts.join(sign("separators", ",").slice(0, 1)) + sign("close", ")");
};

/** Converts presentation MathML to TeX. Letters and operators are unchanged. */
export const mathToTex = (node: Element): string => {
  const elements = node.children.filter(isElement);
  if (elements.length === 0) return textContent(node).trim();
  // only once, because otherwise the time would double with each level
  const parts = elements.map(mathToTex);
  const [first = "", second = "", third = ""] = parts;
  switch (node.tagName) {
    case "mfrac":
      return `\\frac{${first}}{${second}}`;
    case "msup":
    case "mover":
      return first + script("^", second);
    case "msub":
    case "munder":
      return first + script("_", second);
    case "msubsup":
    case "munderover":
      return first + script("_", second) + script("^", third);
    case "msqrt":
      return `\\sqrt{${parts.join("")}}`;
    case "mroot":
      return `\\sqrt[${second}]{${first}}`;
    case "mtable":
      return `\\begin{matrix}${parts.join(" \\\\ ")}\\end{matrix}`;
    case "mtr":
      return parts.join(" & ");
    case "mfenced":
      return fenced(node, parts);
    case "annotation":
    case "annotation-xml":
      return "";
    default:
      return parts.join("");
  }
};
