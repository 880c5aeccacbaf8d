import type { Element } from "hast";
import { findElements, property, textContent } from "./tree.ts";

/** Types of `<input>` that show their value as text beside a label. */
const TYPED = /^(?:text|email|tel|url|number|date|datetime-local|month|week|time)?$/;
/** Maximum UTF-16 units of a value; most longer values are program data, so they count as left out. */
const MAX_VALUE = 2_000;

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();

const options = (node: Element): Element[] => findElements(node, ({ tagName }) => tagName === "option");

const optionText = (option: Element): string => oneLine(textContent(option) || property(option, "label"));

/** An option with an empty value asks for a choice; one without a value has its text as its value. */
const isChosen = ({ properties }: Element): boolean => "selected" in properties && properties["value"] !== "";

const valueOf = (node: Element): string => (node.tagName === "textarea" ? textContent(node) : property(node, "value"));

const showsValue = (node: Element): boolean =>
  node.tagName === "textarea" || (node.tagName === "input" && TYPED.test(property(node, "type").toLowerCase()));

/** Whether a list offers a choice but has no selection. */
const isOpenChoice = (node: Element): boolean =>
  node.tagName === "select" && options(node).length > 1 && !options(node).some(isChosen);

/** Whether a field has choices or a value that the text lacks. */
export const isUnreadField = (node: Element): boolean =>
  isOpenChoice(node) || (showsValue(node) && valueOf(node).trim().length > MAX_VALUE);

/** The visible content of a form field: its value or selection. "" if it shows nothing. */
export const fieldText = (node: Element): string => {
  if (node.tagName === "select") return options(node).filter(isChosen).map(optionText).join(", ");
  const value = valueOf(node).trim();
  return showsValue(node) && value.length <= MAX_VALUE ? oneLine(value) : "";
};
