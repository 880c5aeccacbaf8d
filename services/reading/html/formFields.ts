import type { Element } from "hast";
import { findElements, property, textContent } from "./tree.ts";

/** Types of `<input>` that show their value as text beside a label. */
const TYPED = /^(?:text|email|tel|url|number|date|datetime-local|month|week|time)?$/;
/** Maximum UTF-16 units of a value; longer values are program data. */
const MAX_VALUE = 2_000;

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();

const options = (node: Element): Element[] => findElements(node, ({ tagName }) => tagName === "option");

const optionText = (option: Element): string => oneLine(textContent(option) || property(option, "label"));

/** An option with an empty value asks for a choice; one without a value has its text as its value. */
const isChosen = ({ properties }: Element): boolean => "selected" in properties && properties["value"] !== "";

/** Whether a list offers a choice but has no selection. */
export const isOpenChoice = (node: Element): boolean =>
  node.tagName === "select" && options(node).length > 1 && !options(node).some(isChosen);

/** The visible content of a form field: its value or selection. "" if it shows nothing. */
export const fieldText = (node: Element): string => {
  if (node.tagName === "select") return options(node).filter(isChosen).map(optionText).join(", ");
  const value = node.tagName === "textarea" ? textContent(node) : property(node, "value");
  const shows = node.tagName === "textarea" || TYPED.test(property(node, "type").toLowerCase());
  return shows && value.length <= MAX_VALUE ? oneLine(value) : "";
};
