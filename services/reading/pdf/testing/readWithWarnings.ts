import type { ReadingWarning } from "#events/readingWarnings.ts";
import { readPdf } from "../readPdf.ts";

/** The text of the first page, and the warnings of the file. */
export async function readWithWarnings(bytes: Buffer): Promise<{ text: string; warnings: ReadingWarning[] }> {
  const warnings: ReadingWarning[] = [];
  const [text = ""] = await readPdf(bytes, (warning) => warnings.push(warning));
  return { text, warnings };
}
