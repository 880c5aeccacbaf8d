import type { Element } from "../guard/xml.ts";
import { ommlToTex } from "./omml.ts";

/* Equations in RTF (`\moMath`): groups named like the elements of Office's equations, `\mf` for `m:f`. */

/** An open part of an equation. */
export interface OpenMath {
  element: Element;
  /** Number of groups around it. */
  depth: number;
}

/** Maximum nesting of parts; deeper content belongs to the last part. People write about ten. */
const MAX_DEPTH = 100;

const isProperties = ({ name }: Element): boolean => name.endsWith("Pr");

/** Opens the part that the first word of a group names. */
export const openMath = (math: OpenMath[], word: string, depth: number): void => {
  if (math.length >= MAX_DEPTH || !/^m[A-Za-z]/.test(word)) return;
  math.push({ element: { name: `m:${word.slice(1)}`, attributes: {}, children: [] }, depth });
};

/** Parts with text; the others contain only parts. */
const HAS_TEXT = /^m:(?:oMath|e|r|num|den|sub|sup|deg|lim|fName)$/;

export const addMathText = (math: OpenMath[], text: string): void => {
  const last = math.at(-1)?.element;
  const isValue = math.at(-2) !== undefined && isProperties(math.at(-2)!.element);
  const element = isValue ? last : math.findLast((open) => HAS_TEXT.test(open.element.name))?.element;
  if (last && element && !isProperties(last)) element.children.push({ name: "m:t", attributes: {}, children: [text] });
};

/** Closes the part that started with the group at this depth. The text of a property is its value. */
export const closeMath = (math: OpenMath[], depth: number): void => {
  if (math.length < 2 || math.at(-1)!.depth !== depth) return;
  const { element } = math.pop()!;
  const parent = math.at(-1)!.element;
  const texts = element.children.flatMap((child) => (typeof child === "string" ? [] : child.children));
  const text = texts.filter((part) => typeof part === "string").join("");
  parent.children.push(isProperties(parent) ? { ...element, attributes: { "m:val": text.trim() } } : element);
};

/** Closes the equation and returns it as TeX. */
export const finishEquation = (math: OpenMath[]): string => {
  const [whole] = math.splice(0);
  return whole ? ommlToTex(whole.element) : "";
};
