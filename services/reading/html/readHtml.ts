import { mainContent } from "./mainContent.ts";
import type { ReadingWarning } from "#events/readingWarnings.ts";
import { UnreadableFile, type Warn } from "../reader.ts";
import { decodeText } from "../text/charset.ts";
import { ignoreWarnings } from "../warnings.ts";
import { warnOfHtmlParts } from "./omissions.ts";
import { xhtmlToHtml, parseHtml } from "./parseHtml.ts";
import { openShadowRoots } from "./shadowRoots.ts";
import { toMarkdown } from "./toMarkdown.ts";

const FRAMES_ONLY = "The page has no text of its own: it shows other pages in frames. Upload those.";

const isXhtml = (html: string): boolean =>
  /^\s*(?:<\?xml|<!DOCTYPE[^>]*XHTML)|<html[^>]*\sxmlns=/i.test(html.slice(0, 1000));

/** The main content of an HTML page as Markdown. Throws UnreadableFile. */
export const htmlToMarkdown = (html: string, warn: Warn = ignoreWarnings): string => {
  const root = parseHtml(isXhtml(html) ? xhtmlToHtml(html) : html);
  openShadowRoots(root);
  warnOfHtmlParts(warn, root);
  return toMarkdown(mainContent(root, warn));
};

/** Reads HTML or XHTML: one Markdown text without pages. Throws UnreadableFile. */
export const readHtml = async (bytes: Uint8Array, warn: Warn = ignoreWarnings): Promise<string[]> => {
  const omitted: ReadingWarning[] = [];
  const text = htmlToMarkdown(decodeText(bytes), (warning) => omitted.push(warning));
  if (text.trim() === "" && omitted.some(({ code }) => code === "frames_left_out"))
    throw new UnreadableFile(FRAMES_ONLY);
  for (const warning of omitted) warn(warning);
  return [text];
};
