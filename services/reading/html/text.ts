import type { Nodes } from "hast";
import { childNodes } from "./tree.ts";

/** Invisible characters that break searches: soft hyphens, zero-width spaces, byte order marks. */
const INVISIBLE = /[\u00AD\u200B\u2060\uFEFF]/g;
/** Control characters except tab, line feed and carriage return. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]/g;
const SPACES = /[\u00A0\u2000-\u200A\u202F\u205F]/g;

/** Text with plain spaces and hyphens and without invisible characters, so that searches match. */
export const normalizeText = (text: string): string =>
  text.replace(INVISIBLE, "").replace(CONTROL, "").replace(SPACES, " ").replaceAll("\u2011", "-").normalize("NFC");

/** Normalizes every text of the tree, in place. */
export const normalizeTexts = (node: Nodes): void => {
  if (node.type === "text") node.value = normalizeText(node.value);
  for (const child of childNodes(node)) normalizeTexts(child);
};
