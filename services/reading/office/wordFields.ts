import { childElements, findAll, textContent, type Element } from "../guard/xml.ts";
import { fieldLabel } from "./fieldLabels.ts";
import { makeRun } from "./wordXml.ts";

interface OpenField {
  instruction: string;
  inResult: boolean;
  hasResult: boolean;
}

/** The labels of the fields that end in a run. Fields may span several runs: `open` contains the open ones. */
const labelsIn = (run: Element, open: OpenField[]): string[] =>
  childElements(run).flatMap((child) => {
    const field = open.at(-1);
    const text = textContent(child);
    if (child.name === "w:instrText" && field) field.instruction += text;
    else if (child.name === "w:t" && field?.inResult && text.trim() !== "") field.hasResult = true;
    if (child.name !== "w:fldChar") return [];
    const kind = child.attributes["w:fldCharType"];
    if (kind === "begin") open.push({ instruction: "", inResult: false, hasResult: false });
    else if (kind === "separate" && field) field.inResult = true;
    else if (kind === "end" && open.pop() && field?.hasResult === false) {
      const label = fieldLabel(field.instruction);
      return label === "" ? [] : [label];
    }
    return [];
  });

const withLabels = (element: Element, open: OpenField[]): Element => ({
  ...element,
  children: element.children.flatMap((child): (Element | string)[] => {
    if (typeof child === "string") return [child];
    if (child.name === "w:r") return [child, ...labelsIn(child, open).map(makeRun)];
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
  const label = hasResult ? "" : fieldLabel(field.attributes["w:instr"] ?? "");
  return label === "" ? content : [makeRun(label)];
};
