import { contentOf } from "./content.ts";
import { decodeText } from "../text/charset.ts";
import { htmlOfXhtml, parseHtml } from "./parseHtml.ts";
import { toMarkdown } from "./toMarkdown.ts";

const isXhtml = (html: string): boolean =>
  /^\s*(?:<\?xml|<!DOCTYPE[^>]*XHTML)|<html[^>]*\sxmlns=/i.test(html.slice(0, 1000));

/** The content of a page of HTML as Markdown. Throws UnreadableFile. */
export const markdownOfHtml = (html: string): string =>
  toMarkdown(contentOf(parseHtml(isXhtml(html) ? htmlOfXhtml(html) : html)));

/** Reads HTML or XHTML: one Markdown, no pages. Throws UnreadableFile. */
export const readHtml = (bytes: Uint8Array): Promise<string[]> => Promise.resolve([markdownOfHtml(decodeText(bytes))]);
