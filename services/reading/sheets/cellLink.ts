import type { CellObject } from "@e965/xlsx";
import type { Cell } from "./blocks.ts";

const ABSOLUTE = /^(?:https?:\/\/|mailto:)\S+$/i;
/** UTF-16 units of an address; browsers take hardly more. */
const MAX_ADDRESS = 2_000;

/** What would end an address in a table of Markdown. */
const encodeSign = (sign: string): string => `%${sign.codePointAt(0)!.toString(16).toUpperCase().padStart(2, "0")}`;

/** A formula whose address is a text; others compute it. */
const FORMULA = /^HYPERLINK\("([^"]+)"/i;

/** The address that a cell links to; undefined if its text is the address, and for places in the workbook or files beside it. */
export const cellLink = ({ l: link, f: formula }: CellObject, text: string): string | undefined => {
  const address = (link?.Target ?? FORMULA.exec(formula ?? "")?.[1] ?? "").trim();
  if (address.length > MAX_ADDRESS || !ABSOLUTE.test(address)) return undefined;
  return text.includes(address.replace(/^mailto:/i, "")) ? undefined : address.replace(/[()<>|\\]/g, encodeSign);
};

/** The text of a cell as a link to its address, if it has one. */
export const withLink = ({ text, link }: Cell): string =>
  link === undefined ? text : `[${text.replace(/[[\]]/g, "\\$&")}](${link})`;
