import type { ElementContent } from "hast";
import { toMarkdown } from "../html/toMarkdown.ts";
import { UnreadableFile, type Warn } from "../reader.ts";
import { ignoreWarnings } from "../warnings.ts";
import { openDoc } from "./docFile.ts";
import { warnOfDocParts } from "./docOmissions.ts";
import { readDocBlocks } from "./docText.ts";
import { isOle } from "./xmlParts.ts";

const readBlocks = (bytes: Uint8Array, warn: Warn): ElementContent[] => {
  try {
    const file = openDoc(bytes);
    warnOfDocParts(warn, file);
    return readDocBlocks(file);
  } catch (cause) {
    if (cause instanceof UnreadableFile) throw cause;
    throw new UnreadableFile("The file is damaged: it is not a Word document.", { cause });
  }
};

/** Reads a Word document of 1997 to 2003: one Markdown text without pages, with its notes at the end. Throws UnreadableFile. */
export const readDoc = async (bytes: Uint8Array, warn: Warn = ignoreWarnings): Promise<string[]> => {
  if (!isOle(bytes)) throw new UnreadableFile("The file is damaged: it is not a Word document.");
  return [toMarkdown({ type: "root", children: readBlocks(bytes, warn) })];
};
