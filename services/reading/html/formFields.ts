import type { Element } from "hast";
import { findElements, property, textContent } from "./tree.ts";

/** Types of `<input>` that show their value as text, beside the label that says what it is. */
const TYPED = /^(?:text|email|tel|url|number|date|datetime-local|month|week|time)?$/;
/** UTF-16 units of a value; a longer one is data of a program. */
const MAX_VALUE = 2_000;

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();

const options = (node: Element): Element[] => findElements(node, ({ tagName }) => tagName === "option");

const optionText = (option: Element): string => oneLine(textContent(option) || property(option, "label"));

const isChosen = (option: Element): boolean => "selected" in option.properties && property(option, "value") !== "";

/** Whether people may choose from a list in which nothing is chosen. */
export const isOpenChoice = (node: Element): boolean =>
  node.tagName === "select" && options(node).length > 1 && !options(node).some(isChosen);

/** What a field of a form shows: what is typed into it, or chosen in it. "" for a field that shows nothing. */
export const fieldText = (node: Element): string => {
  if (node.tagName === "select") return options(node).filter(isChosen).map(optionText).join(", ");
  const value = node.tagName === "textarea" ? textContent(node) : property(node, "value");
  const shows = node.tagName === "textarea" || TYPED.test(property(node, "type").toLowerCase());
  return shows && value.length <= MAX_VALUE ? oneLine(value) : "";
};
