import { UnreadableFile } from "../reader.ts";
import { type Block, blocksOf, isTable } from "./blocks.ts";
import { Faces } from "./fonts.ts";
import { furnitureOf, type LaidPage } from "./furniture.ts";
import { isHeading, levelsOf, type Looks, looksOf } from "./headings.ts";
import { vocabularyOf } from "./join.ts";
import { DAMAGED, openPdf, type Pdf } from "./open.ts";
import { layOut } from "./page.ts";
import { render } from "./render.ts";
import type { TextLine } from "./textLine.ts";

async function pagesOf(pdf: Pdf): Promise<LaidPage[]> {
  const faces = new Faces();
  const pages: LaidPage[] = [];
  let failed = 0;
  for (let number = 1; number <= pdf.numPages; number++) {
    try {
      const page = await pdf.getPage(number);
      pages.push(await layOut(page, faces));
      page.cleanup();
    } catch (error) {
      failed++;
      if (failed === pdf.numPages) throw new UnreadableFile(DAMAGED, { cause: error });
      pages.push({ columns: [], height: 1 });
    }
  }
  return pages;
}

const linesIn = (pages: readonly LaidPage[]): TextLine[] =>
  pages.flatMap((page) => page.columns.flat().filter((part): part is TextLine => !isTable(part)));

/** Typewriting is code only where it is the exception. */
const unlikeCode = (looks: Looks, block: Block): Block =>
  looks.mono && block.kind === "code" ? { kind: "text", lines: block.lines } : block;

/** Markdown, one string per page ("" for a page without text). Throws UnreadableFile: locked, damaged, scanned, too many pages. */
export async function readPdf(bytes: Uint8Array): Promise<string[]> {
  const pdf = await openPdf(bytes);
  const pages = await pagesOf(pdf);
  await pdf.loadingTask.destroy();
  const lines = linesIn(pages);
  const words = vocabularyOf(lines.map((line) => line.raw));
  const looks = looksOf(lines);
  const furniture = furnitureOf(pages);
  const blocks = pages.map((page) =>
    page.columns
      .flatMap((column) => blocksOf(column.filter((part) => isTable(part) || !furniture.has(part))))
      .map((block) => unlikeCode(looks, block)),
  );
  const levels = levelsOf(blocks.flat().filter((block) => isHeading(block, looks)));
  return blocks.map((page) => render(page, levels, words));
}
