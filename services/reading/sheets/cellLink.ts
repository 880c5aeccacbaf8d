import type { CellObject } from "@e965/xlsx";
import type { Cell } from "./blocks.ts";

const ABSOLUTE = /^(?:https?:\/\/|mailto:)\S+$/i;
/** Maximum UTF-16 units of an address; browsers accept hardly more. */
const MAX_ADDRESS = 2_000;

/** Percent-encodes a character that would end an address in a Markdown table. */
const encodeSign = (sign: string): string => `%${sign.codePointAt(0)!.toString(16).toUpperCase().padStart(2, "0")}`;

/** A formula with a constant address; other formulas compute theirs. */
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
