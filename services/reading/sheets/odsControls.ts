import { childElements, findAll, type Element } from "../guard/xml.ts";
import type { Control } from "./controls.ts";

/* The controls of forms on the sheets of an ODS. Programs store them with the sheet, not with the shape that shows them. */

/** Fields with a typed value. */
const FIELDS = new Set(
  ["text", "textarea", "formatted-text", "number", "date", "time", "combobox"].map((name) => `form:${name}`),
);

/** The current choice, else the initial one. Programs write only what is chosen, so both may be in a list. */
const chosenOptions = (list: Element): string[] => {
  const options = findAll(list, "form:option");
  const isCurrentKnown = options.some(({ attributes }) => attributes["form:current-selected"] === "true");
  return options
    .filter(({ attributes: { "form:current-selected": current, "form:selected": initial } }) =>
      isCurrentKnown ? current === "true" : (current ?? initial) === "true",
    )
    .map(({ attributes }) => attributes["form:label"] ?? "");
};

const isChecked = ({ name, attributes }: Element): boolean =>
  name === "form:radio"
    ? (attributes["form:current-selected"] ?? attributes["form:selected"]) === "true"
    : (attributes["form:current-state"] ?? attributes["form:state"]) === "checked";

/** The text that a control shows: its label, its value, or its choice. */
const shownText = (control: Element): string => {
  const { name, attributes } = control;
  if (name === "form:listbox") return chosenOptions(control).join(", ");
  const value = FIELDS.has(name) ? (attributes["form:current-value"] ?? attributes["form:value"]) : undefined;
  return value ?? attributes["form:label"] ?? "";
};

const toControl = (control: Element): Control[] => {
  const label = shownText(control).replace(/\s+/g, " ").trim();
  if (label === "") return [];
  const hasState = control.name === "form:checkbox" || control.name === "form:radio";
  return [hasState ? { label, checked: isChecked(control) } : { label }];
};

/** The controls on a sheet, in the order of their form. */
export const odsControls = (node: Element): Control[] =>
  childElements(node).flatMap((child) => {
    if (child.name === "office:forms" || child.name === "form:form") return odsControls(child);
    return child.name.startsWith("form:") ? toControl(child) : [];
  });

/** Lists that offer a choice, but have none. */
export const countOpenChoices = (root: Element): number =>
  findAll(root, "form:listbox").filter((list) => chosenOptions(list).length === 0).length;
