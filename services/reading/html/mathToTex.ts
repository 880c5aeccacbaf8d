import type { Element } from "hast";
import { isElement, textContent } from "./tree.ts";

/** A subscript or superscript; "" for an empty one. */
export const script = (mark: "_" | "^", tex: string): string => (tex === "" ? "" : `${mark}{${tex}}`);

/** Converts presentation MathML to TeX. Letters and operators are unchanged. */
export const mathToTex = (node: Element): string => {
  const parts = node.children.filter(isElement);
  if (parts.length === 0) return textContent(node).trim();
  const [first = "", second = "", third = ""] = parts.map(mathToTex);
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
      return `\\sqrt{${parts.map(mathToTex).join("")}}`;
    case "mroot":
      return `\\sqrt[${second}]{${first}}`;
    case "mtable":
      return `\\begin{matrix}${parts.map(mathToTex).join(" \\\\ ")}\\end{matrix}`;
    case "mtr":
      return parts.map(mathToTex).join(" & ");
    case "annotation":
    case "annotation-xml":
      return "";
    default:
      return parts.map(mathToTex).join("");
  }
};
