import { ScannedFile, UnreadableFile, type Warn } from "../reader.ts";
import {
  countLetters,
  MIN_CONFIDENCE,
  letterThreshold,
  pagesWithoutText,
  RECOGNITION_LIMIT_REACHED,
  warnOfPages,
} from "../warnings.ts";
import type { Pdf } from "./openPdf.ts";
import type { PageDefects } from "./readPage.ts";
import type { RecognizedPages } from "./recognizePages.ts";

const MAX_CHARACTERS = 50_000_000;

const SCANNED =
  "The PDF has no text: its pages seem to be scanned. Text recognition (OCR) was not used; upload a file with text in it.";
const NOTHING_RECOGNIZED =
  "The PDF has no text, and text recognition (OCR) found none: its pages seem to be blank, or scanned badly.";
const UNREADABLE_PICTURES = "The PDF has no text: its pages seem to be scanned, and their pictures could not be read.";
const NO_LETTERS =
  "The PDF's fonts do not say which letters they show, so its text cannot be read. Upload a file made in another way.";

/** Why a file has no text. */
function reasonForNoText(texts: readonly string[], pages: readonly PageDefects[], recognized?: RecognizedPages): Error {
  if (pages.some(({ isSymbols }) => isSymbols)) return new UnreadableFile(NO_LETTERS);
  if (!recognized) return new ScannedFile(SCANNED, pagesWithoutText(texts).length);
  if (recognized.beyondLimit.length > 0) return new UnreadableFile(RECOGNITION_LIMIT_REACHED);
  return new UnreadableFile(recognized.unreadable.length > 0 ? UNREADABLE_PICTURES : NOTHING_RECOGNIZED);
}

/** Throws UnreadableFile if the pages have almost no text except perhaps stamps, or too much; ScannedFile if only recognition can help. */
export function checkText(texts: readonly string[], pages: readonly PageDefects[], recognized?: RecognizedPages): void {
  let [letters, length] = [0, 0];
  const wanted = letterThreshold(texts.length) * (recognized ? 1 : texts.length);
  for (const text of texts) {
    length += text.length;
    if (letters < wanted) letters += countLetters(text);
  }
  if (length > MAX_CHARACTERS) throw new UnreadableFile("The PDF has more text than can be read.");
  if (letters < wanted) throw reasonForNoText(texts, pages, recognized);
}

const XFA =
  "The PDF is a form of a kind that only Adobe's programs show (XFA). Print it into a PDF there, and upload that.";

/** The number of attached files. Throws UnreadableFile for a form whose pages only say that it cannot be displayed. */
export async function checkParts(pdf: Pdf): Promise<number> {
  const { info } = await pdf.getMetadata().catch(() => ({ info: {} }));
  const form: { IsXFAPresent?: boolean; IsAcroFormPresent?: boolean } = info;
  if (form.IsXFAPresent === true && form.IsAcroFormPresent !== true) throw new UnreadableFile(XFA);
  const attached = (await pdf.getAttachments().catch(() => null)) as Map<string, unknown> | null;
  return attached?.size ?? 0;
}

/** Warns of pages with attached comments and files, and with lists without a selection. */
export function warnOfUnreadAnnotations(warn: Warn, pages: readonly PageDefects[]): void {
  warnOfPages(
    warn,
    "comments_left_out",
    pageNumbers(pages, ({ unreadAnnotations }) => unreadAnnotations?.comments === true),
  );
  warnOfPages(
    warn,
    "embedded_files_left_out",
    pageNumbers(pages, ({ unreadAnnotations }) => unreadAnnotations?.files === true),
  );
  warnOfPages(
    warn,
    "form_fields_left_out",
    pageNumbers(pages, ({ unreadAnnotations }) => unreadAnnotations?.choices === true),
  );
}

const pageNumbers = (pages: readonly PageDefects[], has: (page: PageDefects) => boolean): number[] =>
  pages.flatMap((page, index) => (has(page) ? [index + 1] : []));

/** Warns of recognized pages, with their confidence. */
function warnOfRecognized(
  warn: Warn,
  { confidence, unreadable, beyondLimit }: RecognizedPages,
  blank: Set<number>,
): void {
  const sure = [...confidence].filter(([page]) => !blank.has(page)).toSorted(([a], [b]) => a - b);
  for (const code of ["read_from_picture", "uncertain_text"] as const) {
    const found = sure.filter(([, percent]) => percent < MIN_CONFIDENCE === (code === "uncertain_text"));
    if (found.length > 0)
      warn({ code, pages: found.map(([page]) => page), confidence: found.map(([, percent]) => percent) });
  }
  warnOfPages(
    warn,
    "picture_unreadable",
    unreadable.toSorted((a, b) => a - b),
  );
  warnOfPages(warn, "recognition_limit_reached", beyondLimit);
}

/** Warns of pages whose text is missing, completely or partly, or was recognized in pictures. */
export function warnOfDefects(
  warn: Warn,
  texts: readonly string[],
  {
    pages,
    damaged,
    recognized,
  }: { pages: readonly PageDefects[]; damaged: readonly number[]; recognized: RecognizedPages | undefined },
): void {
  const symbols = pageNumbers(pages, ({ isSymbols }) => isSymbols);
  const { unreadable = [], beyondLimit = [] } = recognized ?? {};
  const explained = new Set([...damaged, ...symbols, ...unreadable, ...beyondLimit]);
  const blank = pagesWithoutText(texts).filter((page) => !explained.has(page));
  if (recognized) warnOfRecognized(warn, recognized, new Set(blank));
  warnOfPages(warn, "page_damaged", [...damaged]);
  warnOfPages(warn, "page_without_text", blank);
  const settled = new Set([...blank, ...explained, ...(recognized?.complete ?? [])]);
  warnOfPages(
    warn,
    "images_without_text",
    pageNumbers(pages, ({ pictures }) => pictures != null).filter((page) => !settled.has(page)),
  );
  warnOfPages(
    warn,
    "pages_cut",
    pageNumbers(pages, ({ isCut }) => isCut),
  );
  warnOfPages(warn, "symbols_instead_of_words", symbols);
  warnOfPages(
    warn,
    "hidden_text_left_out",
    pageNumbers(pages, ({ hasHidden }) => hasHidden === true),
  );
}
