import type { ReadingWarning, WarningCode } from "#events/readingWarnings.ts";
import type { Warn } from "./reader.ts";

/** Below this confidence, people should look at the file: typed scans have 80 to 96, handwriting 31. */
export const MIN_CONFIDENCE = 60;

/** Letters and digits of a page with text; a page number or a stamp has fewer. */
const MIN_LETTERS = 5;
/** Of the only page of a file. */
const MIN_LETTERS_ALONE = 2;

/** Why a file without text fails when its pictures may not be recognized. */
export const RECOGNITION_LIMIT_REACHED =
  "The file has no text but in pictures, and the organization's pages of text recognition (OCR) for today are used up. Process it again tomorrow.";

export const ignoreWarnings: Warn = () => {};

export const minLetters = (pages: number): number => (pages === 1 ? MIN_LETTERS_ALONE : MIN_LETTERS);

const LETTER = /[\p{L}\p{N}]/gu;

export const countLetters = (text: string): number => text.match(LETTER)?.length ?? 0;

/** Reads no further than it must: a page has thousands. */
const hasLetters = (text: string, least: number): boolean =>
  text
    .matchAll(LETTER)
    .drop(least - 1)
    .next().done !== true;

/** The numbers (from 1) of the pages without text. */
export const pagesWithoutText = (texts: readonly string[]): number[] =>
  texts.flatMap((text, index) => (hasLetters(text, minLetters(texts.length)) ? [] : [index + 1]));

/** Minimum letters and digits of a header or footer that matters: `Page 3 of 12` has fewer. */
const MIN_EDGE_LETTERS = 12;
/** Headers and footers of a file that are looked at: each is searched for in its text. */
export const MAX_EDGES = 100;

/** What a file without text may have instead. */
const UNREAD: Partial<Record<WarningCode, string>> = {
  images_without_text: "pictures",
  embedded_files_left_out: "embedded files",
  headers_and_footers_left_out: "headers and footers",
  comments_left_out: "comments",
  tracked_changes_left_out: "deleted text",
  hidden_text_left_out: "hidden text",
  hidden_sheets: "hidden sheets",
  formulas_without_values: "formulas without values",
  form_fields_left_out: "form fields",
};

/** Why a file fails that has no text, by what its reader left out. */
export const reasonForNoText = (warnings: readonly ReadingWarning[]): string => {
  const kinds = [...new Set(warnings.flatMap(({ code }) => UNREAD[code] ?? []))];
  if (kinds.length === 0) return "There is no text in the file.";
  return `There is no text in the file, only what is not read: ${kinds.join(", ")}.`;
};

/** Headers and footers that say what the text does not. */
export const countEdges = (edges: readonly string[], text: () => string): number => {
  const words = (one: string): string => one.replace(/\s+/g, " ").trim();
  const saying = edges.slice(0, MAX_EDGES).filter((edge) => countLetters(edge) >= MIN_EDGE_LETTERS);
  if (saying.length === 0) return 0;
  const body = words(text());
  return [...new Set(saying.map(words))].filter((edge) => !body.includes(edge)).length;
};

/** The warnings with one for each code that counts things, because the parts of a file are read apart. */
export const joinCounts = (warnings: readonly ReadingWarning[]): ReadingWarning[] => {
  const isCount = ({ count, pages }: ReadingWarning): boolean => count !== undefined && !pages;
  const byCode = Map.groupBy(warnings.filter(isCount), ({ code }) => code);
  return warnings.flatMap((warning) => {
    if (!isCount(warning)) return [warning];
    const same = byCode.get(warning.code)!;
    return same[0] === warning ? [{ ...warning, count: same.reduce((sum, { count = 0 }) => sum + count, 0) }] : [];
  });
};

/** Warns about pages, if there are any. */
export const warnOfPages = (warn: Warn, code: WarningCode, pages: number[]): void => {
  if (pages.length > 0) warn({ code, pages });
};

/** Warns about a number of things, if it is not 0. */
export const warnOfCount = (warn: Warn, code: WarningCode, count: number): void => {
  if (count > 0) warn({ code, count });
};
