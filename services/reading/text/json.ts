import { decodeText } from "./charset.ts";
import { fence } from "./fence.ts";
import { indentJson } from "./indentJson.ts";
import { cleanLines, hasLongLine } from "./lines.ts";

/** Reads JSON as a code block, indented if it has long lines. Invalid JSON stays as it is. */
export const readJson = async (bytes: Uint8Array): Promise<string[]> => {
  const text = cleanLines(decodeText(bytes)).trim();
  return text === "" ? [""] : [fence(hasLongLine(text) ? indentJson(text) : text, "json")];
};
