import type { Element } from "hast";
import { isElement, textOf } from "./tree.ts";

/** Nothing where there is no script. */
export const script = (mark: "_" | "^", tex: string): string => (tex === "" ? "" : `${mark}{${tex}}`);

/** Presentation MathML as TeX; letters and operators stay as the signs they are. */
export const texOfMath = (node: Element): string => {
  const parts = node.children.filter(isElement);
  if (parts.length === 0) return textOf(node).trim();
  const [first = "", second = "", third = ""] = parts.map(texOfMath);
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
      return `\\sqrt{${parts.map(texOfMath).join("")}}`;
    case "mroot":
      return `\\sqrt[${second}]{${first}}`;
    case "mtable":
      return `\\begin{matrix}${parts.map(texOfMath).join(" \\\\ ")}\\end{matrix}`;
    case "mtr":
      return parts.map(texOfMath).join(" & ");
    case "annotation":
    case "annotation-xml":
      return "";
    default:
      return parts.map(texOfMath).join("");
  }
};
