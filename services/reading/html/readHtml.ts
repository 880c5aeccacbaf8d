import { mainContent } from "./mainContent.ts";
import { decodeText } from "../text/charset.ts";
import { xhtmlToHtml, parseHtml } from "./parseHtml.ts";
import { toMarkdown } from "./toMarkdown.ts";

const isXhtml = (html: string): boolean =>
  /^\s*(?:<\?xml|<!DOCTYPE[^>]*XHTML)|<html[^>]*\sxmlns=/i.test(html.slice(0, 1000));

/** The main content of an HTML page as Markdown. Throws UnreadableFile. */
export const htmlToMarkdown = (html: string): string =>
  toMarkdown(mainContent(parseHtml(isXhtml(html) ? xhtmlToHtml(html) : html)));

/** Reads HTML or XHTML: one Markdown text without pages. Throws UnreadableFile. */
export const readHtml = (bytes: Uint8Array): Promise<string[]> => Promise.resolve([htmlToMarkdown(decodeText(bytes))]);
