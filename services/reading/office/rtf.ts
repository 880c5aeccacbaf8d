import { toMarkdown } from "../html/toMarkdown.ts";
import { UnreadableFile, type Warn } from "../reader.ts";
import { countUnreadHeaders, ignoreWarnings, MAX_HEADERS, warnOfCount } from "../warnings.ts";
import { readRtfBlocks } from "./readRtfBlocks.ts";

const count = (source: string, pattern: RegExp): number => source.match(pattern)?.length ?? 0;

/** Maximum UTF-16 units of a header or footer that are examined. */
const MAX_EDGE = 5_000;
const HEADER = /\{\\(?:header|footer)[lrf]?(?![a-z])/g;
const CONTROL = /\\(?:[a-z]{1,32}-?\d* ?|'[\da-f]{2}|[^a-z])/gi;

/** The text of a group that starts at an offset. */
function groupText(source: string, from: number): string {
  let depth = 0;
  for (let at = from; at < Math.min(source.length, from + MAX_EDGE); at++) {
    const sign = source[at];
    if (sign === "\\") at += 1;
    else if (sign === "{") depth += 1;
    else if (sign === "}" && --depth === 0) return source.slice(from, at).replace(CONTROL, "").replace(/[{}]/g, "");
  }
  return "";
}

const readHeaders = (source: string): string[] =>
  [...source.matchAll(HEADER).take(MAX_HEADERS)].map(({ index }) => groupText(source, index));

/** Whether a box is checked is only in its description. */
const CHECK_BOX = /\bFORMCHECKBOX\b/g;

const CHOICE_OR_RESULT = /\bFORMDROPDOWN\b|\{\\fldrslt/g;

/** List fields whose choice is not in the text: they have no result, or an empty one. */
function openChoices(source: string): number {
  let [found, open] = [0, 0];
  for (const { 0: word, index } of source.matchAll(CHOICE_OR_RESULT)) {
    if (word === "FORMDROPDOWN") open += 1;
    else {
      if (open > 0 && groupText(source, index).trim() === "") found += open;
      open = 0;
    }
  }
  return found + open;
}

/** Warns of content that the text lacks. */
const warnOfParts = (warn: Warn, source: string, pictures: number): void => {
  warnOfCount(warn, "tracked_changes_left_out", count(source, /\\deleted(?![a-z]|0)/g));
  warnOfCount(warn, "comments_left_out", count(source, /\{\\\*\\annotation(?![a-z])/g));
  warnOfCount(warn, "images_without_text", pictures);
  warnOfCount(warn, "embedded_files_left_out", count(source, /\{\\\*\\objdata(?![a-z])/g));
  warnOfCount(
    warn,
    "headers_and_footers_left_out",
    countUnreadHeaders(readHeaders(source), () => ""),
  );
  warnOfCount(warn, "form_fields_left_out", openChoices(source) + count(source, CHECK_BOX));
};

/** Reads RTF: one Markdown text without pages. Throws UnreadableFile. */
export const readRtf = async (bytes: Uint8Array, warn: Warn = ignoreWarnings): Promise<string[]> => {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  if (!/^\s*\{\\rtf/.test(source)) throw new UnreadableFile("The file is damaged: it is not RTF.");
  const { blocks, unknownSigns, hiddenTexts, pictures } = readRtfBlocks(source);
  warnOfParts(warn, source, pictures);
  warnOfCount(warn, "hidden_text_left_out", hiddenTexts);
  warnOfCount(warn, "symbols_instead_of_words", unknownSigns);
  return [toMarkdown({ type: "root", children: blocks })];
};
