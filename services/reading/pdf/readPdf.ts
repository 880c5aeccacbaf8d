import { UnreadableFile, type Warn } from "../reader.ts";
import { countLetters, ignoreWarnings, minLetters, pagesWithoutText, warnOfPages } from "../warnings.ts";
import { type Block, toBlocks, hasLines, isTable } from "./blocks.ts";
import { mergeColumns } from "./mergeColumns.ts";
import { FontStyles } from "./fontStyles.ts";
import { findRunningHeads } from "./runningHeads.ts";
import type { Table } from "./ruledTables.ts";
import { isHeading, headingLevels, type BodyStyle, bodyStyle, findAuthors } from "./headings.ts";
import { largestStream } from "./streamLimits.ts";
import { collectVocabulary } from "./joinLines.ts";
import { DAMAGED, openPdf, type Pdf } from "./openPdf.ts";
import { type LaidOutPage, readPage, type TaggedPage } from "./readPage.ts";
import { render } from "./render.ts";
import type { TextLine } from "./textLine.ts";

/** Pages of a document whose tags are used. pdf.js searches each page's tags from the start: 777 pages take 1.6 s, the time grows with the square. */
const MAX_TAGGED_PAGES = 1_500;

type Page = LaidOutPage | TaggedPage;

const isTagged = (page: Page): page is TaggedPage => "blocks" in page;

/** Bytes of one page's operators. More are maps and plans: their lines are no tables, and running them takes 500 MB. */
const MAX_DRAWN = 8_000_000;

const MAX_CHARACTERS = 50_000_000;

const SCANNED =
  "The PDF has no text: its pages seem to be scanned. Text recognition (OCR) is not offered; upload a file with text in it.";

const NO_LETTERS =
  "The PDF's fonts do not say which letters they show, so its text cannot be read. Upload a file made in another way.";

/** Reads every page; a damaged one is empty. */
async function readPages(pdf: Pdf, plain: boolean): Promise<{ pages: Page[]; damaged: number[] }> {
  const fonts = new FontStyles();
  const pages: Page[] = [];
  const damaged: number[] = [];
  for (let number = 1; number <= pdf.numPages; number++) {
    try {
      const page = await pdf.getPage(number);
      pages.push(await readPage(page, { fonts, plain, tagged: pdf.numPages <= MAX_TAGGED_PAGES }));
      page.cleanup();
    } catch (error) {
      damaged.push(number);
      if (damaged.length === pdf.numPages) throw new UnreadableFile(DAMAGED, { cause: error });
      pages.push({ blocks: [], isCut: false, isSymbols: false });
    }
  }
  return { pages, damaged };
}

const linesIn = (page: Page): TextLine[] =>
  isTagged(page)
    ? page.blocks.flatMap((block) => (hasLines(block) ? block.lines : []))
    : page.columns.flat().filter((part): part is TextLine => !isTable(part));

/** In a monospaced document, monospaced blocks are not code. */
const asTextIfMono = (looks: BodyStyle, block: Block): Block =>
  looks.mono && block.kind === "code" ? { kind: "text", lines: block.lines } : block;

/** The pages without running heads, running feet and page numbers. */
function dropRunningHeads(pages: readonly Page[]): Page[] {
  const runningHeads = findRunningHeads(pages.map((page) => (isTagged(page) ? { columns: [], height: 1 } : page)));
  const keepLines = (column: (TextLine | Table)[]): (TextLine | Table)[] =>
    column.filter((part) => isTable(part) || !runningHeads.has(part));
  return pages.map((page) => (isTagged(page) ? page : { ...page, columns: page.columns.map(keepLines) }));
}

/** The blocks of a page, in reading order. */
const pageBlocks = (page: Page, looks: BodyStyle): Block[] =>
  (isTagged(page) ? page.blocks : mergeColumns(page.columns.map(toBlocks), looks, page.height)).map((block) =>
    asTextIfMono(looks, block),
  );

const nextBlock = (page: readonly Block[], block: Block): Block | undefined => page[page.indexOf(block) + 1];

/** The levels of the headings: the tagged ones, and on pages without tags those that look like headings. */
function findHeadings(blocks: readonly Block[][], pages: readonly Page[], looks: BodyStyle): Map<Block, number> {
  const tagged = blocks.flat().filter((block) => block.kind === "heading");
  const untagged = blocks.filter((_, index) => tagged.length === 0 || !isTagged(pages[index]!));
  const headings = new Set(
    untagged.flatMap((page) =>
      page.filter(hasLines).filter((block) => isHeading(block, nextBlock(page, block), looks)),
    ),
  );
  for (const block of findAuthors(untagged[0] ?? [], headings)) headings.delete(block);
  const levels = headingLevels([...headings]);
  for (const block of tagged) levels.set(block, block.level);
  return levels;
}

const pageNumbers = (pages: readonly Page[], has: (page: Page) => boolean): number[] =>
  pages.flatMap((page, index) => (has(page) ? [index + 1] : []));

/** Throws UnreadableFile if the pages have almost no text (a scan, maybe with stamps), or too much. */
function checkText(texts: string[], pages: readonly Page[]): string[] {
  let [letters, length] = [0, 0];
  const wanted = minLetters(texts.length) * texts.length;
  for (const text of texts) {
    length += text.length;
    if (letters < wanted) letters += countLetters(text);
  }
  if (length > MAX_CHARACTERS) throw new UnreadableFile("The PDF has more text than can be read.");
  if (letters < wanted) throw new UnreadableFile(pages.some(({ isSymbols }) => isSymbols) ? NO_LETTERS : SCANNED);
  return texts;
}

/** Names the pages whose text is missing, in whole or in part. */
function warnOfDefects(warn: Warn, texts: readonly string[], pages: readonly Page[], damaged: readonly number[]): void {
  const explained = new Set([...damaged, ...pageNumbers(pages, ({ isSymbols }) => isSymbols)]);
  warnOfPages(warn, "page_damaged", [...damaged]);
  warnOfPages(
    warn,
    "page_without_text",
    pagesWithoutText(texts).filter((page) => !explained.has(page)),
  );
  warnOfPages(
    warn,
    "pages_cut",
    pageNumbers(pages, ({ isCut }) => isCut),
  );
  warnOfPages(
    warn,
    "symbols_instead_of_words",
    pageNumbers(pages, ({ isSymbols }) => isSymbols),
  );
}

/**
 * The Markdown of each page ("" for a page without text, which is warned of). Throws UnreadableFile: protected, damaged, scanned,
 * too many pages.
 */
export async function readPdf(bytes: Uint8Array, warn: Warn = ignoreWarnings): Promise<string[]> {
  const plain = largestStream(bytes) > MAX_DRAWN;
  const pdf = await openPdf(bytes);
  const read = await readPages(pdf, plain);
  const pages = dropRunningHeads(read.pages);
  await pdf.loadingTask.destroy();
  const lines = pages.flatMap(linesIn);
  const words = collectVocabulary(lines.map((line) => line.raw));
  const looks = bodyStyle(lines);
  const blocks = pages.map((page) => pageBlocks(page, looks));
  const levels = findHeadings(blocks, pages, looks);
  const texts = checkText(
    blocks.map((page) => render(page, levels, words)),
    pages,
  );
  warnOfDefects(warn, texts, pages, read.damaged);
  return texts;
}
