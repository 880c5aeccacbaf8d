import { UnreadableFile } from "../reader.ts";
import { type Block, blocksOf, isLined, isTable } from "./blocks.ts";
import { flow } from "./flow.ts";
import { Faces } from "./fonts.ts";
import { furnitureOf } from "./furniture.ts";
import type { Table } from "./grid.ts";
import { isHeading, levelsOf, type Looks, looksOf, peopleOf } from "./headings.ts";
import { largestStream } from "./inflation.ts";
import { vocabularyOf } from "./join.ts";
import { DAMAGED, openPdf, type Pdf } from "./open.ts";
import { type LaidPage, readPage, type TaggedPage } from "./page.ts";
import { render } from "./render.ts";
import type { TextLine } from "./textLine.ts";

/** pdf.js looks for each page's tags from the document's start: 777 pages take 1.6 s, and ten times as many take 100 times as long. */
const MOST_TAGGED = 1_500;

type Page = LaidPage | TaggedPage;

const isTagged = (page: Page): page is TaggedPage => "blocks" in page;

/** Drawing orders of this many bytes are maps and plans; their lines are no tables, and following them takes 500 MB. */
const MOST_DRAWN = 8_000_000;

const MOST_CHARACTERS = 50_000_000;

const SCANNED =
  "The PDF has no text: its pages seem to be scanned. Text recognition (OCR) is not offered; upload a file with text in it.";

async function pagesOf(pdf: Pdf, plain: boolean): Promise<Page[]> {
  const faces = new Faces();
  const pages: Page[] = [];
  let failed = 0;
  for (let number = 1; number <= pdf.numPages; number++) {
    try {
      const page = await pdf.getPage(number);
      pages.push(await readPage(page, { faces, plain, tagged: pdf.numPages <= MOST_TAGGED }));
      page.cleanup();
    } catch (error) {
      failed++;
      if (failed === pdf.numPages) throw new UnreadableFile(DAMAGED, { cause: error });
      pages.push({ blocks: [] });
    }
  }
  return pages;
}

const linesOf = (page: Page): TextLine[] =>
  isTagged(page)
    ? page.blocks.flatMap((block) => (isLined(block) ? block.lines : []))
    : page.columns.flat().filter((part): part is TextLine => !isTable(part));

/** Typewriting is code only where it is the exception. */
const unlikeCode = (looks: Looks, block: Block): Block =>
  looks.mono && block.kind === "code" ? { kind: "text", lines: block.lines } : block;

/** The pages without their running heads, feet and numbers. */
function withoutFurniture(pages: readonly Page[]): Page[] {
  const furniture = furnitureOf(pages.map((page) => (isTagged(page) ? { columns: [], height: 1 } : page)));
  const kept = (column: (TextLine | Table)[]): (TextLine | Table)[] =>
    column.filter((part) => isTable(part) || !furniture.has(part));
  return pages.map((page) => (isTagged(page) ? page : { ...page, columns: page.columns.map(kept) }));
}

/** The blocks of a page, in the order of reading. */
const blocksOfPage = (page: Page, looks: Looks): Block[] =>
  (isTagged(page) ? page.blocks : flow(page.columns.map(blocksOf), looks, page.height)).map((block) =>
    unlikeCode(looks, block),
  );

const after = (page: readonly Block[], block: Block): Block | undefined => page[page.indexOf(block) + 1];

/** The levels of the headings: those that the document itself names, else those that look like headings. */
function headingsOf(blocks: readonly Block[][], pages: readonly Page[], looks: Looks): Map<Block, number> {
  const named = blocks.flat().filter((block) => block.kind === "heading");
  const judged = blocks.filter((_, index) => named.length === 0 || !isTagged(pages[index]!));
  const headings = new Set(
    judged.flatMap((page) => page.filter(isLined).filter((block) => isHeading(block, after(page, block), looks))),
  );
  for (const block of peopleOf(judged[0] ?? [], headings)) headings.delete(block);
  const levels = levelsOf([...headings]);
  for (const block of named) levels.set(block, block.level);
  return levels;
}

/** Throws UnreadableFile when the pages say next to nothing (stamps on a scan), or far too much. */
function checked(pages: string[]): string[] {
  let [letters, length] = [0, 0];
  for (const page of pages) {
    length += page.length;
    if (letters < 5 * pages.length) letters += page.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
  }
  if (length > MOST_CHARACTERS) throw new UnreadableFile("The PDF has more text than can be read.");
  if (letters < (pages.length === 1 ? 2 : 5 * pages.length)) throw new UnreadableFile(SCANNED);
  return pages;
}

/** Markdown, one string per page ("" for a page without text). Throws UnreadableFile: locked, damaged, scanned, too many pages. */
export async function readPdf(bytes: Uint8Array): Promise<string[]> {
  const plain = largestStream(bytes) > MOST_DRAWN;
  const pdf = await openPdf(bytes);
  const pages = withoutFurniture(await pagesOf(pdf, plain));
  await pdf.loadingTask.destroy();
  const lines = pages.flatMap(linesOf);
  const words = vocabularyOf(lines.map((line) => line.raw));
  const looks = looksOf(lines);
  const blocks = pages.map((page) => blocksOfPage(page, looks));
  const levels = headingsOf(blocks, pages, looks);
  return checked(blocks.map((page) => render(page, levels, words)));
}
