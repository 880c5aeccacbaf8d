import WordExtractor from "word-extractor";
import type { Element } from "hast";
import { toMarkdown } from "../html/toMarkdown.ts";
import { element } from "../html/tree.ts";
import { UnreadableFile } from "../reader.ts";
import { blocksOf, type Paragraph } from "./flow.ts";
import { isOle } from "./part.ts";

/** Cells end with a tab each, so that a row ends with one. */
const isRow = (line: string): boolean => line.endsWith("\t") && line.trim() !== "";

const cellsOf = (line: string): Element[] =>
  line
    .slice(0, -1)
    .split("\t")
    .map((cell) => element("td", [cell]));

/** Lines of text as blocks: rows that follow each other are a table. */
const blocksIn = (text: string): (Paragraph | Element)[] => {
  const blocks: (Paragraph | Element)[] = [];
  let table: Element | undefined;
  for (const line of text.split("\n")) {
    if (isRow(line)) {
      if (!table) blocks.push((table = element("table")));
      table.children.push(element("tr", cellsOf(line)));
    } else {
      table = undefined;
      if (line.trim() !== "") blocks.push({ kind: "p", runs: [{ text: line }] });
    }
  }
  return blocks;
};

const extract = async (bytes: Uint8Array): Promise<string[]> => {
  try {
    const document = await new WordExtractor().extract(Buffer.from(bytes));
    return [document.getBody(), document.getFootnotes(), document.getEndnotes(), document.getTextboxes()];
  } catch (cause) {
    throw new UnreadableFile("The file is damaged: it is not a Word document.", { cause });
  }
};

/** Reads a Word document of the years before 2007: one Markdown, no pages, notes at its end. Throws UnreadableFile. */
export const readDoc = async (bytes: Uint8Array): Promise<string[]> => {
  // Of anything else the library would open what it takes for an archive, unguarded.
  if (!isOle(bytes)) throw new UnreadableFile("The file is damaged: it is not a Word document.");
  const texts = await extract(bytes);
  return [toMarkdown({ type: "root", children: blocksOf(texts.flatMap(blocksIn)) })];
};
