import type { Nodes } from "hast";
import { childrenOf } from "./tree.ts";

/** Marks that a reader does not see and a search does not find: soft hyphens, zero-width spaces, byte order marks. */
const INVISIBLE = /[\u00AD\u200B\u2060\uFEFF]/g;
/** Control characters have no place in Markdown; tab, line feed and carriage return are space. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]/g;
const SPACES = /[\u00A0\u2000-\u200A\u202F\u205F]/g;

/** Text as it is searched for: plain spaces and hyphens, nothing invisible. */
export const plainText = (text: string): string =>
  text.replace(INVISIBLE, "").replace(CONTROL, "").replace(SPACES, " ").replaceAll("\u2011", "-").normalize("NFC");

/** Makes every text of the tree plain, in place. */
export const makePlain = (node: Nodes): void => {
  if (node.type === "text") node.value = plainText(node.value);
  for (const child of childrenOf(node)) makePlain(child);
};
