import type { Element } from "hast";
import { isElement, textOf } from "./tree.ts";

/** Groups what is longer than one sign or number, so that an operator beside it keeps its reach. */
export const group = (text: string): string =>
  /^(?:[\p{L}]|\d+(?:\.\d+)?|\(.*\))$/u.test(text) || text === "" ? text : `(${text})`;

/** MathML on one line: `a/b`, `x^2`, `x_i`, `sqrt(x)`. */
export const linearMath = (node: Element): string => {
  const parts = node.children.filter(isElement);
  if (parts.length === 0) return textOf(node).trim();
  const [first = "", second = "", third = ""] = parts.map(linearMath);
  switch (node.tagName) {
    case "mfrac":
      return `${group(first)}/${group(second)}`;
    case "msup":
    case "mover":
      return `${first}^${group(second)}`;
    case "msub":
    case "munder":
      return `${first}_${group(second)}`;
    case "msubsup":
    case "munderover":
      return `${first}_${group(second)}^${group(third)}`;
    case "msqrt":
      return `sqrt(${parts.map(linearMath).join("")})`;
    case "mroot":
      return `root(${second}, ${first})`;
    case "annotation":
    case "annotation-xml":
      return "";
    default:
      return parts.map(linearMath).join("");
  }
};
