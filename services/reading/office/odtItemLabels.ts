import type { ElementContent } from "hast";
import { element } from "../html/tree.ts";
import { formatOdtNumber } from "./odtNumbering.ts";
import type { ListLevel } from "./odtStyles.ts";
import { isReference } from "./paragraphRole.ts";

/** The label of an item that Markdown's own number cannot replace, as `(c)`; "" for others. */
export const itemLabel = ({ format, prefix, suffix }: ListLevel, number: number): string => {
  const label = `${prefix}${formatOdtNumber(number, format)}${suffix}`.trim();
  return isReference(label) ? label : "";
};

/** The content of an item, with a label at the beginning of its first paragraph. */
export const addItemLabel = (label: string, content: ElementContent[]): ElementContent[] => {
  const at = content.findIndex((part) => part.type === "element" && part.tagName === "p");
  const first = content[at];
  if (label === "" || first?.type !== "element") return content;
  return content.with(at, element("p", [`${label} `, ...first.children]));
};
