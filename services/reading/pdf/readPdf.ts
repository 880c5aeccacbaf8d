import type { RecognitionOptions } from "../pictures/recognizer.ts";
import { UnreadableFile, type Warn } from "../reader.ts";
import { AnnotationBudget } from "./annotationLimits.ts";
import { ignoreWarnings, pagesWithoutText, warnOfCount } from "../warnings.ts";
import { type Block, toBlocks, hasLines, isTable } from "./blocks.ts";
import { mergeColumns } from "./mergeColumns.ts";
import { repeatHeaders } from "./continuedTables.ts";
import { FontStyles } from "./fontStyles.ts";
import { countMissingHeads, divideRotatedTexts, findRunningHeads, runningTexts } from "./runningHeads.ts";
import type { Table } from "./ruledTables.ts";
import { isHeading, headingLevels, type BodyStyle, bodyStyle, findAuthors } from "./headings.ts";
import { largestStream } from "./streamLimits.ts";
import { collectVocabulary, type Vocabulary } from "./joinLines.ts";
import { readLayers } from "./layers.ts";
import { DAMAGED_PDF, openPdf, type Pdf, type PdfPage } from "./openPdf.ts";
import { checkParts, checkText, warnOfDefects, warnOfUnreadAnnotations } from "./pdfDefects.ts";
import { dropRepeatedPictures } from "./pagePictures.ts";
import type { PageToRecognize, RecognizedPages } from "./recognizePages.ts";
import { type LaidOutPage, readPage, type TaggedPage } from "./readPage.ts";
import { renderMarkdown } from "./renderMarkdown.ts";
import type { TextLine } from "./textLine.ts";

/** Maximum pages of a document whose tags are used. pdf.js searches each page's tags from the start, in quadratic time: 777 pages take 1.6 s. */
const MAX_TAGGED_PAGES = 1_500;

type Page = LaidOutPage | TaggedPage;

const isTagged = (page: Page): page is TaggedPage => "blocks" in page;

/** Maximum bytes of one page's operators. Maps and plans have more: their lines form no tables, and running them takes 500 MB. */
const MAX_DRAWN = 8_000_000;

/** Maximum pages with text per file whose pictures are recognized, which takes some minutes. */
const MAX_PICTURED = 100;

interface ReadPages {
  pages: Page[];
  damaged: number[];
  fonts: FontStyles;
}

/** Reads every page; a damaged one is empty. */
async function readPages(pdf: Pdf, isTextOnly: boolean): Promise<ReadPages> {
  const fonts = new FontStyles();
  const budget = new AnnotationBudget();
  const layers = await readLayers(pdf);
  const tagged = pdf.numPages <= MAX_TAGGED_PAGES;
  const pages: Page[] = [];
  const damaged: number[] = [];
  for (let number = 1; number <= pdf.numPages; number++) {
    let page: PdfPage | undefined;
    try {
      page = await pdf.getPage(number);
      pages.push(await readPage(page, { fonts, isTextOnly, tagged, budget, layers }));
      page.cleanup();
    } catch (error) {
      damaged.push(number);
      if (damaged.length === pdf.numPages) throw new UnreadableFile(DAMAGED_PDF, { cause: error });
      // pdf.js finds no pages after one that it cannot find
      const isCut = page === undefined && number === pdf.numPages;
      pages.push({ blocks: [], heads: [], isCut, isSymbols: false });
    }
  }
  const pictures = dropRepeatedPictures(pages.map((page) => page.pictures ?? null));
  return { pages: pages.map((page, index) => ({ ...page, pictures: pictures[index]! })), damaged, fonts };
}

const linesIn = (page: Page): TextLine[] =>
  isTagged(page)
    ? page.blocks.flatMap((block) => (hasLines(block) ? block.lines : []))
    : page.columns.flat().filter((part): part is TextLine => !isTable(part));

/** In a monospaced document, monospaced blocks are not code. */
const asTextIfMono = (looks: BodyStyle, block: Block): Block =>
  looks.mono && block.kind === "code" ? { kind: "text", lines: block.lines } : block;

/** The pages without running heads, running feet and page numbers, and the removed lines of each page. */
function dropRunningHeads(pages: readonly Page[]): { pages: Page[]; heads: TextLine[][] } {
  const runningHeads = findRunningHeads(pages.map((page) => (isTagged(page) ? { columns: [], height: 1 } : page)));
  const keepLines = (column: (TextLine | Table)[]): (TextLine | Table)[] =>
    column.filter((part) => isTable(part) || !runningHeads.has(part));
  return {
    pages: pages.map((page) => (isTagged(page) ? page : { ...page, columns: page.columns.map(keepLines) })),
    heads: pages.map((page) =>
      isTagged(page) ? page.heads : page.columns.flat().filter((part) => !isTable(part) && runningHeads.has(part)),
    ) as TextLine[][],
  };
}

/** The pages, with repeated headers in tables that continue from an earlier page. */
const withHeaders = (pages: readonly Page[]): Page[] => {
  const columns = repeatHeaders(pages.map((page) => (isTagged(page) ? null : page.columns)));
  return pages.map((page, index) => (isTagged(page) ? page : { ...page, columns: columns[index] ?? page.columns }));
};

/** The blocks of a page, in reading order. */
const pageBlocks = (page: Page, looks: BodyStyle): Block[] =>
  (isTagged(page) ? page.blocks : mergeColumns(page.columns.map(toBlocks), looks, page.height)).map((block) =>
    asTextIfMono(looks, block),
  );

const nextBlock = (page: readonly Block[], block: Block): Block | undefined => page[page.indexOf(block) + 1];

/** The levels of the headings: the tagged ones, and on pages without tags the blocks that look like headings. */
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

const partText = (part: TextLine | Table): string => (isTable(part) ? part.rows.flat().join(" ") : part.raw);

/** Pages without text, except those whose characters are unknown; then pages with text and pictures. */
function pagesToRecognize(pages: readonly Page[], damaged: readonly number[]): PageToRecognize[] {
  const texts = pages.map((page) =>
    isTagged(page)
      ? linesIn(page)
          .map((line) => line.raw)
          .join(" ")
      : page.columns.flat().map(partText).join(" "),
  );
  const blank = pagesWithoutText(texts);
  const pictured = pages.flatMap(({ pictures }, index) =>
    pictures == null || blank.includes(index + 1) ? [] : [{ number: index + 1, pictures }],
  );
  return [
    ...blank
      .filter((number) => !damaged.includes(number) && !pages[number - 1]!.isSymbols)
      .map((number) => ({ number, pictures: null })),
    ...pictured.slice(0, MAX_PICTURED),
  ];
}

/** Recognizes the text of pages without text and of pictures, if allowed. */
async function recognizeRest(
  bytes: Uint8Array,
  { pages, damaged, fonts }: ReadPages,
  recognition: RecognitionOptions | undefined,
): Promise<RecognizedPages | undefined> {
  const numbers = recognition ? pagesToRecognize(dropRunningHeads(pages).pages, damaged) : [];
  if (!recognition || numbers.length === 0) return undefined;
  // its modules are loaded only where pictures are recognized
  const { recognizePages } = await import("./recognizePages.ts");
  return recognizePages(bytes, numbers, { recognition, fonts });
}

const joinParts = (...parts: string[]): string => parts.filter((part) => part !== "").join("\n\n");

/** A page's text, followed by the text of its pictures, in which large letters are not headings of the page. */
const withPictures = (text: string, picture: LaidOutPage | undefined, looks: BodyStyle, words: Vocabulary): string =>
  joinParts(text, picture ? renderMarkdown(pageBlocks(picture, looks), new Map(), words) : "");

/**
 * The Markdown of each page ("" and a warning for a page without text). Pages without text, and pictures on the others, are
 * recognized if `recognition` is given. Throws UnreadableFile: protected, damaged, too many pages; ScannedFile.
 */
export async function readPdf(
  bytes: Uint8Array,
  warn: Warn = ignoreWarnings,
  recognition?: RecognitionOptions,
): Promise<string[]> {
  const isTextOnly = largestStream(bytes) > MAX_DRAWN;
  const pdf = await openPdf(bytes, { paths: !isTextOnly });
  const attached = await checkParts(pdf);
  const read = await readPages(pdf, isTextOnly);
  await pdf.loadingTask.destroy();
  const recognized = await recognizeRest(bytes, read, recognition);
  const all = read.pages.map((page, index) => recognized?.pages.get(index + 1) ?? page);
  const { pages: withoutHeads, heads } = dropRunningHeads(all);
  const pages = withHeaders(withoutHeads);
  const lines = pages.flatMap(linesIn);
  const words = collectVocabulary(lines.map((line) => line.raw));
  const looks = bodyStyle(lines);
  const blocks = pages.map((page) => pageBlocks(page, looks));
  const levels = findHeadings(blocks, pages, looks);
  const texts = blocks.map((page, index) =>
    withPictures(renderMarkdown(page, levels, words), recognized?.pictures.get(index + 1), looks, words),
  );
  checkText(texts, pages, recognized);
  warnOfDefects(warn, texts, { pages, damaged: read.damaged, recognized });
  warnOfUnreadAnnotations(warn, read.pages);
  warnOfCount(warn, "embedded_files_left_out", attached);
  const running = runningTexts(heads, texts);
  const aside = divideRotatedTexts(all.map((page) => page.aside ?? []));
  const whole = texts.map((text, index) => {
    const own = [...aside.own[index]!, ...(running.get(index) ?? []).map((line) => [line])];
    const more = own.map((lines): Block => ({ kind: "text", lines }));
    return joinParts(text, renderMarkdown(more, new Map(), words));
  });
  warnOfCount(warn, "headers_and_footers_left_out", countMissingHeads([...heads, ...aside.repeated], whole));
  return whole;
}
