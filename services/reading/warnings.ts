import type { ReadingWarning, WarningCode } from "#events/readingWarnings.ts";
import type { Warn } from "./reader.ts";

/** Below this confidence, people should look at the file: typed scans have 80 to 96, handwriting 31. */
export const MIN_CONFIDENCE = 60;

/** Minimum letters and digits of a page with text; a page number or a stamp has fewer. */
const MIN_LETTERS = 5;
/** The minimum for a file with one page. */
const MIN_LETTERS_ALONE = 2;

/** The reason for a file that has text only in pictures, when the organization may recognize no more pages today. */
export const RECOGNITION_LIMIT_REACHED =
  "The file has no text but in pictures, and the organization's pages of text recognition (OCR) for today are used up. Process it again tomorrow.";

export const ignoreWarnings: Warn = () => {};

export const letterThreshold = (pages: number): number => (pages === 1 ? MIN_LETTERS_ALONE : MIN_LETTERS);

const LETTER = /[\p{L}\p{N}]/gu;

export const countLetters = (text: string): number => text.match(LETTER)?.length ?? 0;

/** Stops at the `least`th letter, because a page has thousands. */
const hasLetters = (text: string, least: number): boolean =>
  text
    .matchAll(LETTER)
    .drop(least - 1)
    .next().done !== true;

/** The numbers (from 1) of the pages without text. */
export const pagesWithoutText = (texts: readonly string[]): number[] =>
  texts.flatMap((text, index) => (hasLetters(text, letterThreshold(texts.length)) ? [] : [index + 1]));

/** Minimum letters and digits of a header or footer that matters: `Page 3 of 12` has fewer. */
const MIN_HEADER_LETTERS = 12;
/** Maximum headers and footers of a file that are compared with its text. */
export const MAX_HEADERS = 100;

/** Names of unread content, for the reason why a file without text fails. */
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

/** The reason why a file without text fails. It names what the reader left out. */
export const reasonForNoText = (warnings: readonly ReadingWarning[]): string => {
  const kinds = [...new Set(warnings.flatMap(({ code }) => UNREAD[code] ?? []))];
  if (kinds.length === 0) return "There is no text in the file.";
  return `There is no text in the file, only what is not read: ${kinds.join(", ")}.`;
};

/** Counts the distinct headers and footers that the text does not contain. */
export const countUnreadHeaders = (headers: readonly string[], text: () => string): number => {
  const words = (one: string): string => one.replace(/\s+/g, " ").trim();
  const meaningful = headers.slice(0, MAX_HEADERS).filter((header) => countLetters(header) >= MIN_HEADER_LETTERS);
  if (meaningful.length === 0) return 0;
  const body = words(text());
  return [...new Set(meaningful.map(words))].filter((header) => !body.includes(header)).length;
};

/** Merges counting warnings of the same code, because each part of a file is read separately and warns by itself. */
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
