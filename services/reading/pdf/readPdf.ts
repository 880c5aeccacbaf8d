import { readingOrder } from "./columns.ts";
import { linesOf, textOfLine } from "./lines.ts";
import { openPdf } from "./open.ts";
import { textOf } from "./runs.ts";

/** Markdown, one string per page ("" for a page without text). Throws UnreadableFile: locked, damaged, scanned, too many pages. */
export async function readPdf(bytes: Uint8Array): Promise<string[]> {
  const pdf = await openPdf(bytes);
  const pages: string[] = [];
  try {
    for (let number = 1; number <= pdf.numPages; number++) {
      const page = await pdf.getPage(number);
      const { runs } = await textOf(page);
      pages.push(
        readingOrder(runs)
          .flatMap(linesOf)
          .map((line) => textOfLine(line))
          .join("\n"),
      );
      page.cleanup();
    }
  } finally {
    await pdf.loadingTask.destroy();
  }
  return pages;
}
