import type { Element, Root } from "hast";
import { parseHtml, xhtmlToHtml } from "../html/parseHtml.ts";
import { findElements, property, textContent } from "../html/tree.ts";
import { UnreadableFile } from "../reader.ts";

/** Maximum characters of a drawing that is read; programs write a few hundred for each control. */
const MAX_LENGTH = 5_000_000;

export interface Control {
  label: string;
  /** Of a check box or an option. */
  checked?: boolean;
}

const named = (node: Element | Root, name: string): Element[] => findElements(node, ({ tagName }) => tagName === name);

const readControl = (shape: Element): Control | undefined => {
  const data = named(shape, "x:clientdata")[0];
  const kind = data ? property(data, "objecttype") || property(data, "objectType") : "Note";
  // a note is a comment, which has its own part
  if (kind === "Note") return undefined;
  const label = named(shape, "v:textbox").map(textContent).join(" ").replace(/\s+/g, " ").trim();
  if (label === "") return undefined;
  const marks = named(shape, "x:checked").map((node) => textContent(node).trim());
  return kind === "Checkbox" || kind === "Radio" ? { label, checked: marks[0] === "1" } : { label };
};

/**
 * The buttons, boxes and labels of forms on a sheet, from a drawing in VML. It is parsed as browsers parse pages, because programs write
 * some of its elements without an end.
 */
export const readControls = (vml: string): Control[] => {
  if (vml.length > MAX_LENGTH || !vml.includes("ObjectType")) return [];
  try {
    return named(parseHtml(xhtmlToHtml(vml)), "v:shape").flatMap((shape) => readControl(shape) ?? []);
  } catch (error) {
    if (error instanceof UnreadableFile) return [];
    throw error;
  }
};

/** Lists on a sheet. What is chosen in them is in no text of the file. */
export const countLists = (vml: string): number => vml.match(/\bObjectType\s*=\s*"(?:Drop|List)"/g)?.length ?? 0;

export const controlText = ({ label, checked }: Control): string =>
  checked === undefined ? label : `${checked ? "[x]" : "[ ]"} ${label}`;
