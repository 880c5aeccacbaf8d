import type { Element } from "../guard/xml.ts";
import { ommlToTex } from "./omml.ts";

/* Equations in RTF (`\moMath`): groups that have the names of the elements of Office's equations, `\mf` for `m:f`. */

/** A part of an equation whose group is open. */
export interface OpenMath {
  element: Element;
  /** Groups around it. */
  depth: number;
}

/** Parts in each other; what stands deeper belongs to the last of them. People write some ten. */
const MAX_DEPTH = 100;

const isProperties = ({ name }: Element): boolean => name.endsWith("Pr");

/** Begins the part that the first word of a group names. */
export const openMath = (math: OpenMath[], word: string, depth: number): void => {
  if (math.length >= MAX_DEPTH || !/^m[A-Za-z]/.test(word)) return;
  math.push({ element: { name: `m:${word.slice(1)}`, attributes: {}, children: [] }, depth });
};

/** Parts that have text; the others only have parts. */
const HAS_TEXT = /^m:(?:oMath|e|r|num|den|sub|sup|deg|lim|fName)$/;

export const addMathText = (math: OpenMath[], text: string): void => {
  const last = math.at(-1)?.element;
  const isValue = math.at(-2) !== undefined && isProperties(math.at(-2)!.element);
  const element = isValue ? last : math.findLast((open) => HAS_TEXT.test(open.element.name))?.element;
  if (last && element && !isProperties(last)) element.children.push({ name: "m:t", attributes: {}, children: [text] });
};

/** Ends the part that began with the group at this depth. The text of a property is its value. */
export const closeMath = (math: OpenMath[], depth: number): void => {
  if (math.length < 2 || math.at(-1)!.depth !== depth) return;
  const { element } = math.pop()!;
  const parent = math.at(-1)!.element;
  const texts = element.children.flatMap((child) => (typeof child === "string" ? [] : child.children));
  const text = texts.filter((part) => typeof part === "string").join("");
  parent.children.push(isProperties(parent) ? { ...element, attributes: { "m:val": text.trim() } } : element);
};

/** Ends the equation; returns it as TeX. */
export const takeTex = (math: OpenMath[]): string => {
  const [whole] = math.splice(0);
  return whole ? ommlToTex(whole.element) : "";
};
