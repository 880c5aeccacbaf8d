import { childElements, findAll, textContent, type Element } from "../guard/xml.ts";
import { fieldLabel, fieldReading } from "./fieldLabels.ts";
import { makeReading } from "./wordRuby.ts";
import { makeRun } from "./wordXml.ts";

/** The displayed part of an instruction as runs. */
const shownRuns = (instruction: string): Element[] => {
  const label = fieldLabel(instruction);
  const reading = fieldReading(instruction);
  if (label === "") return [];
  return reading === "" ? [makeRun(label)] : makeReading([makeRun(label)], reading);
};

interface OpenField {
  instruction: string;
  inResult: boolean;
  hasResult: boolean;
}

/** The displayed instructions of the fields that end in a run. Fields may span several runs: `open` contains the open ones. */
const labelsIn = (run: Element, open: OpenField[]): Element[] =>
  childElements(run).flatMap((child) => {
    const field = open.at(-1);
    const text = textContent(child);
    if (child.name === "w:instrText" && field) field.instruction += text;
    else if (child.name === "w:t" && field?.inResult && text.trim() !== "") field.hasResult = true;
    if (child.name !== "w:fldChar") return [];
    const kind = child.attributes["w:fldCharType"];
    if (kind === "begin") open.push({ instruction: "", inResult: false, hasResult: false });
    else if (kind === "separate" && field) field.inResult = true;
    else if (kind === "end" && open.pop() && field?.hasResult === false) return shownRuns(field.instruction);
    return [];
  });

const withLabels = (element: Element, open: OpenField[]): Element => ({
  ...element,
  children: element.children.flatMap((child): (Element | string)[] => {
    if (typeof child === "string") return [child];
    if (child.name === "w:r") return [child, ...labelsIn(child, open)];
    return [withLabels(child, open)];
  }),
});

/** The paragraph, including the displayed parts of its fields' instructions. */
export const showFields = (paragraph: Element): Element =>
  findAll(paragraph, "w:instrText").length === 0 ? paragraph : withLabels(paragraph, []);

/** The content of a field that consists of one element. */
export const simpleField = (field: Element): Element[] => {
  const content = childElements(field);
  const hasResult = findAll(field, "w:t").some((text) => textContent(text).trim() !== "");
  const shown = hasResult ? [] : shownRuns(field.attributes["w:instr"] ?? "");
  return shown.length === 0 ? content : shown;
};
