import type { ElementContent } from "hast";
import { openDocument } from "../guard/openDocument.ts";
import { childElements, findChild } from "../guard/xml.ts";
import { toMarkdown } from "../html/toMarkdown.ts";
import type { Warn } from "../reader.ts";
import { ignoreWarnings } from "../warnings.ts";
import { joinBlocks } from "./joinBlocks.ts";
import { type OdtContext, odtNode } from "./odtBody.ts";
import { openChapterNumbers } from "./odtNumbering.ts";
import { readObject } from "./odtObjects.ts";
import { warnOfOdtParts } from "./odtOmissions.ts";
import { readOdtStyles } from "./odtStyles.ts";
import { readPart, requirePart } from "./xmlParts.ts";

/** Reads an OpenDocument text: one Markdown text without pages. Throws UnreadableFile. */
export const readOdt = async (bytes: Uint8Array, warn: Warn = ignoreWarnings): Promise<string[]> => {
  const zip = openDocument(bytes);
  const content = requirePart(zip, "content.xml");
  const styles = readPart(zip, "styles.xml");
  const parts = styles ? [styles, content] : [content];
  const odtStyles = readOdtStyles(parts);
  const context: OdtContext = {
    styles: odtStyles,
    notes: [],
    lastNumbers: new Map(),
    chapterNumber: openChapterNumbers(parts, odtStyles),
    object: (name) => readObject(zip, name),
  };
  const text = findChild(findChild(content, "office:body"), "office:text");
  if (text) warnOfOdtParts(warn, text, { ...context, pageStyles: styles, hasComments: false });
  const blocks = text ? childElements(text).flatMap((node) => odtNode(node, context)) : [];
  const children: ElementContent[] = [...joinBlocks(blocks), ...context.notes];
  return [toMarkdown({ type: "root", children })];
};
